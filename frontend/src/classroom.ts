// The entry of a class's pages: the room on a phone, the teacher's desk, the projector, a bar beside the Explorer;
// and of the board of whoever places pods alone.
// It shares nothing with the Explorer, so that a phone has little to load; its words are in the page.

import { Beside } from "./views/classroom/beside.ts";
import { Board } from "./views/classroom/board.ts";
import { Desk } from "./views/classroom/lead.ts";
import { Room } from "./views/classroom/room.ts";
import { startScreen } from "./views/classroom/screen.ts";
import { Playing } from "./wire/classroom.ts";

const beside = document.querySelector<HTMLElement>("[data-class]");
if (beside) {
  const { class: code = "", csrf = "", lead = "" } = beside.dataset;
  new Beside(code, csrf, lead !== "");
}

const alone = document.querySelector<HTMLElement>("[data-board]");
if (alone) {
  const { board = "", csrf = "" } = alone.dataset;
  const live = document.querySelector("[data-live]");
  const say = (text: string): void => {
    if (live) live.textContent = text;
  };
  alone.append(new Board(new Playing(board, csrf), say, true).root);
}

const root = document.getElementById("class");
if (root) {
  const { code = "", audience = "", csrf = "", seat = "0" } = root.dataset;
  if (audience === "teacher") new Desk(code, csrf);
  else if (audience === "screen") startScreen(code);
  else new Room(code, csrf, Number(seat));
}
