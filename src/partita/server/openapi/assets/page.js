"use strict";
// The page is rendered from the document in the same folder. All text becomes text nodes: no text of the
// document is parsed as HTML.

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"];
const STREAM = "text/event-stream";
const here = location.pathname.replace(/\/+$/, "");
const base = here.replace(/\/api\/docs$/, "");
let api = null;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// The markdown of the descriptions: paragraphs, lists, **bold**, `code`.
function inline(text) {
  return (text || "").split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((piece) => {
    if (piece.startsWith("**") && piece.length > 4) return make("strong", {}, piece.slice(2, -2));
    if (piece.startsWith("`") && piece.length > 2) return make("code", {}, piece.slice(1, -1));
    return piece;
  });
}

function prose(text) {
  return (text || "").split(/\n\s*\n/).filter(Boolean).map((block) => {
    const lines = block.split("\n");
    if (lines.every((line) => /^\s*[-*] /.test(line))) {
      return make("ul", {}, lines.map((line) => make("li", {}, inline(line.replace(/^\s*[-*] /, "")))));
    }
    return make("p", {}, inline(block.replaceAll("\n", " ")));
  });
}

function resolved(schema) {
  const name = nameOf(schema);
  return name ? api.components.schemas[name] || {} : schema || {};
}

function nameOf(schema) {
  return schema && schema.$ref ? schema.$ref.split("/").pop() : null;
}

function typeOf(schema) {
  if (!schema || !Object.keys(schema).length) return "any";
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" & ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type || "any";
  return schema.format ? `${type} (${schema.format})` : type;
}

// The components that a schema refers to, which can be opened.
function inner(schema) {
  if (!schema) return [];
  if (schema.$ref) return [schema];
  const parts = [...(schema.anyOf || []), ...(schema.oneOf || []), ...(schema.allOf || [])];
  return [...parts.flatMap(inner), ...(schema.items ? inner(schema.items) : []),
    ...(typeof schema.additionalProperties === "object" ? inner(schema.additionalProperties) : [])];
}

function opened(schema) {
  const body = make("div");
  const details = make("details", {}, make("summary", {}, nameOf(schema)), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.hasChildNodes()) body.append(drawSchema(resolved(schema)));
  });
  return details;
}

function drawSchema(schema) {
  const box = make("div", { class: "schema" });
  if (schema.$ref) return make("div", { class: "schema" }, opened(schema));
  if (schema.description) box.append(make("div", { class: "quiet" }, inline(schema.description)));
  const fields = Object.entries(schema.properties || {});
  if (!fields.length) box.append(make("div", { class: "type" }, typeOf(schema)), ...inner(schema).map(opened));
  for (const [name, field] of fields) {
    box.append(make("div", { class: "field" },
      make("span", { class: "name" }, name),
      make("span", { class: "type" }, typeOf(field)),
      (schema.required || []).includes(name) ? make("span", { class: "need" }, " required") : null,
      field.description ? make("span", { class: "about" }, inline(field.description)) : null,
      inner(field).map(opened)));
  }
  return box;
}

// A value that matches a schema, for bodies without an example.
function sample(schema, depth = 0) {
  const whole = resolved(schema);
  if (whole.examples && whole.examples.length) return whole.examples[0];
  if (whole.default !== undefined && whole.default !== null) return whole.default;
  if (whole.const !== undefined) return whole.const;
  if (whole.enum) return whole.enum[0];
  const choices = whole.anyOf || whole.oneOf || whole.allOf;
  if (choices) return sample(choices[0], depth + 1);
  if (whole.type === "array") return depth > 3 ? [] : [sample(whole.items, depth + 1)];
  if (whole.properties) {
    const required = (whole.required || []).filter((name) => depth < 4 && whole.properties[name]);
    return Object.fromEntries(required.map((name) => [name, sample(whole.properties[name], depth + 1)]));
  }
  return { string: "", integer: 0, number: 0, boolean: false, object: {} }[whole.type] ?? null;
}

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function drawParameters(parameters) {
  if (!parameters.length) return [];
  return [make("h3", {}, "Parameters"), make("div", { class: "scroll" }, make("table", {},
    make("tbody", {}, parameters.map((one) => make("tr", {},
      make("td", {}, make("code", {}, one.name), " ", one.required ? make("span", { class: "need" }, "required") : null),
      make("td", { class: "type" }, `${one.in} · ${typeOf(one.schema)}`,
        one.schema.default !== undefined ? ` = ${JSON.stringify(one.schema.default)}` : ""),
      make("td", {}, inline(one.description || one.schema.description)))))))];
}

function examplesOf(media) {
  if (media.examples) return Object.values(media.examples).map((one) => one.value);
  if (media.example !== undefined) return [media.example];
  return [];
}

function drawBody(body) {
  if (!body) return [];
  return Object.entries(body.content).flatMap(([type, media]) => [
    make("h3", {}, `Body · ${type}`, body.required ? "" : " · optional"), drawSchema(media.schema || {})]);
}

function drawResponses(responses) {
  const rows = Object.entries(responses).map(([status, response]) => {
    const content = Object.entries(response.content || {});
    return make("tr", {},
      make("td", { class: `mono ${status < "300" ? "good" : "bad"}` }, status),
      make("td", {}, make("p", {}, inline(response.description)), content.map(([type, media]) => [
        make("span", { class: "type" }, `${type} · ${typeOf(media.schema)}`),
        ...(status < "300" ? inner(media.schema).map(opened) : []),
        ...(status < "300" && type === STREAM && media.example ? [make("pre", {}, media.example)] : [])]).flat()));
  });
  return [make("h3", {}, "Responses"), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, rows)))];
}

function inputFor(parameter) {
  const schema = resolved(parameter.schema);
  if (schema.enum || schema.type === "boolean") {
    const values = schema.enum || [true, false];
    return make("select", { name: parameter.name }, make("option", { value: "" }, ""),
      values.map((value) => make("option", { value: String(value) }, String(value))));
  }
  return make("input", { name: parameter.name, placeholder: schema.default ?? "", autocomplete: "off" });
}

function requestOf(path, method, parameters, inputs, bodyInput, bodyType) {
  let target = path;
  const query = new URLSearchParams();
  const headers = {};
  parameters.forEach((one, index) => {
    const value = inputs[index].value;
    if (one.in === "path") target = target.replace(`{${one.name}}`, encodeURIComponent(value));
    else if (value !== "" && one.in === "query") query.append(one.name, value);
    else if (value !== "" && one.in === "header") headers[one.name] = value;
  });
  const key = document.getElementById("key").value;
  if (key) headers.authorization = `Bearer ${key}`;
  const body = bodyInput && bodyInput.value.trim() ? bodyInput.value : undefined;
  if (body !== undefined) headers["content-type"] = bodyType;
  const url = base + target + (query.size ? `?${query}` : "");
  return { url, init: { method: method.toUpperCase(), headers, body, credentials: "same-origin" } };
}

function curlOf({ url, init }) {
  const quote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const lines = [`curl -N -X ${init.method} ${quote(new URL(url, location.href).href)}`];
  for (const [name, value] of Object.entries(init.headers)) {
    lines.push(`-H ${quote(`${name}: ${name === "authorization" ? "Bearer $KEY" : value}`)}`);
  }
  if (init.body !== undefined) lines.push(`-d ${quote(init.body)}`);
  return lines.join(" \\\n  ");
}

async function readInto(output, response) {
  const type = response.headers.get("content-type") || "";
  if (!type.startsWith(STREAM)) {
    const text = await response.text();
    try {
      output.textContent = /json/.test(type) ? pretty(JSON.parse(text)) : text;
    } catch {
      output.textContent = text;
    }
    return;
  }
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    output.append(decoder.decode(value, { stream: true }));
    output.scrollTop = output.scrollHeight;
  }
}

function drawTry(path, method, operation) {
  const parameters = operation.parameters || [];
  const inputs = parameters.map(inputFor);
  const [bodyType, media] = Object.entries(operation.requestBody?.content || {})[0] || [];
  const isText = bodyType && /json|text/.test(bodyType);
  const bodyInput = isText ? make("textarea", { "aria-label": "Body", spellcheck: "false" }) : null;
  if (bodyInput) bodyInput.value = pretty(examplesOf(media)[0] ?? sample(media.schema));
  const status = make("span", { class: "status", role: "status" });
  const output = make("pre", { hidden: true, tabindex: "0", "aria-label": "Response" });
  const send = make("button", { type: "submit" }, "Send");
  const stop = make("button", { type: "button", class: "second", disabled: true }, "Stop");
  const copy = make("button", { type: "button", class: "second" }, "Show as curl");
  let controller = null;
  const request = () => requestOf(path, method, parameters, inputs, bodyInput, bodyType);

  async function run(event) {
    event.preventDefault();
    controller = new AbortController();
    send.disabled = true;
    stop.disabled = false;
    output.hidden = false;
    output.textContent = "";
    status.textContent = "…";
    const { url, init } = request();
    const started = performance.now();
    try {
      const response = await fetch(url, { ...init, signal: controller.signal });
      const statusLine = () => `${response.status} ${response.statusText} · ${Math.round(performance.now() - started)} ms`;
      status.className = `status ${response.ok ? "good" : "bad"}`;
      status.textContent = statusLine();
      await readInto(output, response);
      status.textContent = statusLine();
    } catch (error) {
      status.className = "status bad";
      status.textContent = error.name === "AbortError" ? "stopped reading" : String(error);
    } finally {
      send.disabled = false;
      stop.disabled = true;
    }
  }

  stop.addEventListener("click", () => controller?.abort());
  copy.addEventListener("click", () => {
    output.hidden = false;
    status.textContent = "";
    output.textContent = curlOf(request());
  });
  return make("form", { class: "try", onsubmit: run }, make("h3", {}, "Try it"),
    parameters.map((one, index) => make("label", {}, make("span", {}, one.name), inputs[index])),
    bodyInput, bodyType && !isText ? make("p", { class: "quiet" }, `Send ${bodyType} with curl.`) : null,
    make("div", { class: "row" }, send, stop, copy, status), output);
}

function drawOperation(path, method, operation) {
  const inside = make("div", { class: "inside" });
  const card = make("details", { class: "operation", id: operation.operationId },
    make("summary", {}, make("span", { class: `method ${method}` }, method), make("span", { class: "path" }, path),
      make("span", { class: "what" }, operation.summary || "")), inside);
  card.addEventListener("toggle", () => {
    if (!card.open || inside.hasChildNodes()) return;
    inside.append(...prose(operation.description), ...drawParameters(operation.parameters || []),
      ...drawBody(operation.requestBody), ...drawResponses(operation.responses), drawTry(path, method, operation));
  });
  return card;
}

function operationsOf(tag) {
  return Object.entries(api.paths).flatMap(([path, item]) => METHODS
    .filter((method) => item[method] && (item[method].tags || ["other"]).includes(tag))
    .map((method) => ({ path, method, operation: item[method] })));
}

function drawModels() {
  const section = make("section", {}, make("h2", { id: "schemas" }, "Schemas"));
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    const body = make("div");
    const model = make("details", { class: "model", id: `schema-${name}` }, make("summary", {}, name), body);
    model.addEventListener("toggle", () => {
      if (!model.open || body.hasChildNodes()) return;
      body.append(drawSchema(schema));
      if (schema.examples) body.append(make("pre", {}, pretty(schema.examples[0])));
    });
    section.append(model);
  }
  return section;
}

function draw() {
  const main = document.getElementById("main");
  const contents = document.getElementById("contents");
  document.getElementById("version").textContent = api.info.version;
  main.replaceChildren(make("section", {}, prose(api.info.description)));
  for (const tag of api.tags) {
    const operations = operationsOf(tag.name);
    main.append(make("section", { id: `tag-${tag.name}` }, make("h2", {}, tag.name), prose(tag.description),
      operations.map(({ path, method, operation }) => drawOperation(path, method, operation))));
    contents.append(make("div", { class: "group" }, make("h2", {}, tag.name), operations.map(
      ({ path, method, operation }) => make("a", { href: `#${operation.operationId}`, title: `${method} ${path}` },
        make("span", { class: `method ${method}` }, method), operation.summary || path))));
  }
  main.append(drawModels());
  contents.append(make("div", { class: "group" }, make("h2", {}, "More"), make("a", { href: "#schemas" }, "Schemas")));
}

function showTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}

function filter(event) {
  const text = event.target.value.toLowerCase();
  for (const group of document.querySelectorAll("#contents .group")) {
    let shown = 0;
    for (const link of group.querySelectorAll("a")) {
      link.hidden = !`${link.title} ${link.textContent}`.toLowerCase().includes(text);
      link.style.display = link.hidden ? "none" : "";
      shown += !link.hidden;
    }
    group.hidden = !shown;
  }
}

async function start() {
  const main = document.getElementById("main");
  const url = `${base}/api/openapi.json`;
  document.getElementById("document").href = url;
  try {
    const key = document.getElementById("key").value;
    const response = await fetch(url, { headers: key ? { authorization: `Bearer ${key}` } : {} });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    api = await response.json();
    document.getElementById("contents").replaceChildren();
    draw();
    showTarget();
  } catch (error) {
    main.replaceChildren(make("p", { class: "bad" }, `The document could not be read: ${error.message}. Is a key required?`));
  }
}

document.getElementById("filter").addEventListener("input", filter);
document.getElementById("key").addEventListener("change", () => { if (!api) start(); });
addEventListener("hashchange", showTarget);
start();
