// A run that has just ended: why its pods are pending is said without values until a worker has looked. This
// puts the causes with values in the place of the others as soon as they are there.

const PAUSE_MS = 1000;
const ATTEMPTS = 30;

void wait(ATTEMPTS);

async function wait(attempts) {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const page = await fetchPage();
  if (page?.querySelector(".causes__sentence")) replace(page);
  else if (attempts > 1) await wait(attempts - 1);
}

async function fetchPage() {
  try {
    const answer = await fetch(location.href);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

function replace(page) {
  for (const old of document.querySelectorAll("[data-causes]")) {
    const found = page.querySelector(`[data-causes="${old.dataset.causes}"]`);
    if (found && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(found));
  }
}
