// The data of a page and what every page is made of.

"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

// An element; children are elements or texts, which are never HTML.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "html") element.innerHTML = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  element.append(...children.flat().filter(child => child !== null));
  return element;
}

function formatCount(number) {
  if (number === null || number === undefined) return "\u2013";
  for (const [size, unit] of [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e4, " k"]])
    if (number >= size)
      return (number / (size === 1e4 ? 1e3 : size)).toPrecision(3) + unit;
  return number.toLocaleString("en");
}

function formatBytes(number) {
  if (number === null || number === undefined) return "\u2013";
  for (const [size, unit] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
    if (number >= size) return (number / size).toPrecision(3) + " " + unit;
  return number + " B";
}

function makeBar(share, text) {
  const cell = make("td", {class: "figure"});
  const bar = make("span", {class: "bar"});
  bar.style.width = Math.round(share * 100) + "%";
  cell.append(bar, make("span", {}, text));
  return cell;
}

function sumOf(rows, figure) {
  return rows.reduce((sum, row) => sum + (figure(row) || 0), 0);
}
