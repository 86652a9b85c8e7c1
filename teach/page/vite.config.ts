// The page is opened from a file, and then browsers refuse module scripts and fetch(). So the page is one classic script and
// one style sheet. engine.js and lessons.js, which other tools make, are classic scripts beside it.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// Only the scripts beside the page run, and none from a lesson or an imported experiment. A page that was opened from a file
// has no origin, so 'self' would not mean the same in all browsers. WebAssembly is allowed for the engine, and data: for
// exported pictures.
const kPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'self' file: 'wasm-unsafe-eval'; " +
  "style-src 'self' file: 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src data: blob:; worker-src blob:";
const kPolicyTag = `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${kPolicy}" />`;

const kBeside = ["lessons.js", "engine.js"];

function classicScripts(): Plugin {
  return {
    name: "classic-scripts",
    transformIndexHtml: {
      order: "post",
      handler(html, context) {
        const beside = kBeside.map((name) => `    <script defer src="${name}"></script>\n`).join("");
        const built = context.bundle !== undefined;
        const page = html
          .replace(/<script type="module" crossorigin src="([^"]+)"><\/script>/g, '<script defer src="$1"></script>')
          .replace(/<link rel="stylesheet" crossorigin/g, '<link rel="stylesheet"');
        if (built) return page.replace(/( *<script defer)/, `${beside}$1`).replace(`<meta charset="utf-8" />`, kPolicyTag);
        return page.replace(/( *<script type="module" src="\/src)/, `${beside}$1`);
      },
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [svelte(), classicScripts()],
  // While developing: a folder with engine.js and lessons.js (npm run pack).
  publicDir: process.env.LINEBOUNCE_TEACH_DATA ?? false,
  build: {
    outDir: process.env.LINEBOUNCE_TEACH_OUT ?? "dist",
    emptyOutDir: false, // other files in the folder stay
    copyPublicDir: false,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1_000_000,
    target: "es2022",
    rolldownOptions: {
      output: { format: "iife", entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
  test: { include: ["tests/unit/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
