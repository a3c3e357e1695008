// The entry of a class's pages: the room on a phone, the teacher's desk, the projector, a bar beside the Explorer;
// and of the board of whoever places pods alone.
// It shares nothing with the Explorer, so that a phone has little to load; its words are in the page.

import { mount } from "svelte";

import BesideBar from "./views/classroom/BesideBar.svelte";
import Board from "./views/classroom/Board.svelte";
import Desk from "./views/classroom/Desk.svelte";
import { Following } from "./views/classroom/follow.svelte.ts";
import { say } from "./views/classroom/live.ts";
import Room from "./views/classroom/Room.svelte";
import Screen from "./views/classroom/Screen.svelte";
import { Playing, type ClassState, type ScreenState, type TeacherState } from "./wire/classroom.ts";

const beside = document.querySelector<HTMLElement>("[data-class]");
if (beside) {
  const { class: code = "", csrf = "", lead = "" } = beside.dataset;
  const leads = lead !== "";
  const following = new Following<ClassState>(code, leads ? "teacher" : "class");
  mount(BesideBar, { target: document.body, props: { following, code, csrf, leads } });
}

const alone = document.querySelector<HTMLElement>("[data-board]");
if (alone) {
  const { board = "", csrf = "" } = alone.dataset;
  mount(Board, { target: alone, props: { playing: new Playing(board, csrf), say, isAlone: true } });
}

const target = document.getElementById("class");
if (target) {
  const { code = "", audience = "", csrf = "", seat = "0", address = "", csv = "" } = target.dataset;
  const qr = document.querySelector("template[data-qr]")?.innerHTML ?? "";
  if (audience === "teacher")
    mount(Desk, {
      target,
      props: { following: new Following<TeacherState>(code, "teacher"), code, csrf, address, qr, csv },
    });
  else if (audience === "screen")
    mount(Screen, { target, props: { following: new Following<ScreenState>(code, "screen"), code, address, qr } });
  else
    mount(Room, {
      target,
      props: { following: new Following<ClassState>(code, "class"), code, csrf, seat: Number(seat) },
    });
}
