// A run as a GIF: one picture for each stop, drawn as it is on the page.
import { applyPalette, GIFEncoder, quantize } from "gifenc";
import { tick } from "svelte";
import type { Player } from "../model/player.svelte";
import { pictureOf, pixelsOf } from "./svg";

const kMostFrames = 120;
const kWidest = 900;

/** The positions to draw: every stop of the chosen stride, thinned evenly if there are too many. */
export function framesOf(player: Player, from: number, to: number): number[] {
  const all: number[] = [from];
  for (let at = from; at < to; ) {
    const next = player.history.stop(player.stride, 1, at);
    if (next <= at) break;
    all.push(Math.min(next, to));
    at = next;
  }
  if (all.length <= kMostFrames) return all;
  return Array.from({ length: kMostFrames }, (_, k) => all[Math.round((k * (all.length - 1)) / (kMostFrames - 1))]!);
}

export async function gifOf(player: Player, svg: () => SVGSVGElement | null, from: number, to: number,
  told: (share: number) => void, delayMs = 500): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = GIFEncoder();
  const before = player.position;
  const frames = framesOf(player, from, to);
  for (const [index, position] of frames.entries()) {
    player.jump(position);
    await tick();
    await new Promise(requestAnimationFrame);
    const shown = svg();
    if (!shown) break;
    const picture = pictureOf(shown);
    const { data, width, height } = await pixelsOf(picture, Math.min(1, kWidest / picture.width));
    const palette = quantize(data, 128);
    encoder.writeFrame(applyPalette(data, palette), width, height, { palette, delay: index === frames.length - 1 ? 3 * delayMs : delayMs });
    told((index + 1) / frames.length);
  }
  encoder.finish();
  player.jump(before);
  return encoder.bytes();
}
