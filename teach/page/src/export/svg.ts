// Makes a stand-alone file of a picture on the page, with its current colours written into it.
const kProperties = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "fill-opacity",
  "stroke-opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility", "display",
  "paint-order", "transform", "letter-spacing"];

export interface Picture {
  text: string;
  width: number;
  height: number;
}

export function pictureOf(svg: SVGSVGElement): Picture {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    const target = to[index]!;
    target.removeAttribute("class");
    target.removeAttribute("style");
    for (const property of kProperties) {
      const value = style.getPropertyValue(property);
      if (value && value !== "normal" && !(property === "transform" && value === "none")) target.style.setProperty(property, value);
    }
  });
  const box = svg.viewBox.baseVal;
  const bounds = svg.getBoundingClientRect();
  const width = Math.round(box && box.width > 0 ? box.width : bounds.width);
  const height = Math.round(box && box.height > 0 ? box.height : bounds.height);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("x", String(box?.x ?? 0));
  paper.setAttribute("y", String(box?.y ?? 0));
  paper.setAttribute("width", String(width));
  paper.setAttribute("height", String(height));
  paper.setAttribute("fill", getComputedStyle(document.body).getPropertyValue("--paper").trim() || "#ffffff");
  copy.insertBefore(paper, copy.firstChild);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export async function pixelsOf(picture: Picture, scale: number): Promise<ImageData> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
