import { render } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";

import type { PluginOfProfile, Profile } from "./profile.ts";
import ProfileForm from "./ProfileForm.svelte";

const spread: PluginOfProfile = {
  name: "PodTopologySpread",
  implements: ["Filter", "Score"],
  points: ["Filter", "Score"],
  weight: 2,
};
const usual: Profile = {
  scheduler_name: "default-scheduler",
  percentage_of_nodes_to_score: 0,
  scoring_strategy: "LeastAllocated",
  default_spreading: "System",
  plugins: [spread, { name: "ImageLocality", implements: ["Score"], points: ["Score"], weight: 1 }],
};

function form(profile: Profile, isRight = true) {
  const write = vi.fn<(text: string) => void>();
  const found = render(ProfileForm, { profiles: [profile], defaults: usual, isRight, text: () => "", write });
  return { write, ...found };
}

it("writes what is chosen into the text", () => {
  const { write, getByRole } = form(usual);
  getByRole("button", { name: "PodTopologySpread: Score" }).click();
  expect(write).toHaveBeenLastCalledWith(expect.stringMatching(/score:\s+disabled:\s+- name: PodTopologySpread/));
  const weight = getByRole("spinbutton", { name: "Weight of PodTopologySpread" }) as HTMLInputElement;
  weight.value = "9";
  weight.dispatchEvent(new Event("change", { bubbles: true }));
  expect(write).toHaveBeenLastCalledWith(expect.stringContaining("weight: 9"));
  write.mockClear();
  weight.value = "0";
  weight.dispatchEvent(new Event("change", { bubbles: true }));
  expect(write).not.toHaveBeenCalled();
  expect(weight.value).toBe("2");
});

it("shows what the text comes to, in the default profile's order, and what differs from it", () => {
  const [own, image] = usual.plugins as [PluginOfProfile, PluginOfProfile];
  const { getByText, getAllByRole } = form({ ...usual, plugins: [image, { ...own, weight: 5 }] });
  expect(getAllByRole("row").map((row) => row.querySelector("label")?.textContent.trim())).toEqual([
    undefined,
    "PodTopologySpread",
    "ImageLocality",
  ]);
  expect(getByText("default 2").closest("tr")!.classList).toContain("is-other");
});

it("waits while the text is wrong", () => {
  const { getByRole } = form(usual, false);
  expect((getByRole("group") as HTMLFieldSetElement).disabled).toBe(true);
  expect(getByRole("status").textContent).toMatch(/not a valid configuration/);
});
