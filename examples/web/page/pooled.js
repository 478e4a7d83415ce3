// The pooled regions as pictures: a figure for each group of equal outputs.

import { EQUAL, differences, largestDifference } from "./comparison.js";

const CHANNELS = ["red", "green", "blue"];

// `shown` is { groups, reference, amplification, selected }: the reference's group, by how much differences from it
// are amplified or 0 for the outputs themselves, and the row whose samples the map shows. `onSelect` is told a row,
// and `onValue` the text for an element.
export function showPooled(container, { groups, reference, amplification, selected }, { onSelect, onValue }) {
  const focused = [...container.querySelectorAll("figure")].indexOf(document.activeElement);
  const families = [...new Set(groups.map(({ family }) => family))];
  const parts = families.flatMap((name) => {
    const heading = document.createElement("h2");
    heading.textContent = name;
    const family = document.createElement("div");
    family.className = "family";
    for (const group of groups.filter((group) => group.family === name)) {
      const figure = figureOf(group, reference, amplification, onValue);
      figure.classList.toggle("selected", group.indices.includes(selected));
      figure.onclick = () => onSelect(group.indices[0]);
      figure.onkeydown = ({ key }) => {
        if (key === "Enter" || key === " ") onSelect(group.indices[0]);
      };
      family.append(figure);
    }
    return [heading, family];
  });
  container.replaceChildren(...parts);
  container.querySelectorAll("figure")[focused]?.focus();
}

function figureOf(group, reference, amplification, onValue) {
  const figure = document.createElement("figure");
  figure.tabIndex = 0;
  const canvas = document.createElement("canvas");
  const caption = document.createElement("figcaption");
  for (const title of group.titles) {
    const line = document.createElement("div");
    line.textContent = title;
    caption.append(line);
  }
  const note = document.createElement("div");
  figure.append(canvas, caption, note);
  const { output } = group;
  if (output.error) {
    note.className = "refused";
    note.textContent = output.error;
    canvas.hidden = true;
    return figure;
  }
  note.className = "difference";
  note.textContent = distance(group, reference);
  paint(canvas, output, amplification ? reference.output : null, amplification);
  canvas.onpointermove = (event) => onValue(valueAt(canvas, event, group, reference));
  canvas.onpointerleave = () => onValue("");
  return figure;
}

function distance(group, reference) {
  if (group === reference) return "the reference";
  const largest = largestDifference(group.output, reference.output);
  return largest <= EQUAL ? "equal to the reference" : `differs by up to ${largest.toPrecision(2)}`;
}

// An output, or its amplified difference from a reference, both with values from 0 to 1.
function paint(canvas, output, reference, amplification) {
  const [, channels, height, width] = output.shape;
  const values = reference ? differences(output, reference).map((value) => value * amplification) : output.values;
  canvas.width = width;
  canvas.height = height;
  const picture = new ImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      picture.data[4 * pixel + channel] = 255 * values[channel * width * height + pixel];
    }
    picture.data[4 * pixel + 3] = 255;
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

// An element's values, and how far they are from the reference's.
function valueAt(canvas, event, { titles, output }, reference) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const [, channels, rows, columns] = output.shape;
  const place = (offset, size, count) => Math.min(Math.max(Math.floor((offset / size) * count), 0), count - 1);
  const row = place(event.clientY - top, height, rows);
  const column = place(event.clientX - left, width, columns);
  const texts = CHANNELS.slice(0, channels).map((name, channel) => {
    const index = (channel * rows + row) * columns + column;
    const difference = output.values[index] - reference.output.values[index];
    const sign = difference < 0 ? "−" : "+";
    return `${name} ${output.values[index].toFixed(4)} (${sign}${Math.abs(difference).toFixed(4)})`;
  });
  return `${titles[0]}, row ${row}, column ${column}: ${texts.join(", ")}; in brackets: minus the reference`;
}
