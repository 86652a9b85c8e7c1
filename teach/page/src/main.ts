import "./style/tokens.css";
import "./style/base.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { startTheme } from "./style/theme.svelte";

startTheme();
mount(App, { target: document.getElementById("app")! });
