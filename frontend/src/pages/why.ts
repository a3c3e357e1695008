// The entry of why a pod is pending: values that take their time are read while the page is there.

if (document.querySelector("[data-values-expected]")) {
  const address = new URL(location.href);
  address.searchParams.set("values", "now");
  location.replace(address);
}
