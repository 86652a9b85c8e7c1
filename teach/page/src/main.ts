import "./style/tokens.css";
import "./style/base.css";
import { mount } from "svelte";
import App from "./App.svelte";
import type { Lessons } from "./lesson/lessons";
import { unpackText } from "./engine/unpack";
import { startTheme } from "./style/theme.svelte";

startTheme();
void start();

async function start(): Promise<void> {
  const packed = window.LINEBOUNCE_LESSONS_PACKED;
  if (packed) window.LINEBOUNCE_LESSONS = JSON.parse(await unpackText(packed)) as Lessons;
  mount(App, { target: document.getElementById("app")! });
}
