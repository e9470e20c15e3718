import {createHash} from 'node:crypto';
import {type Html, html, render, trusted} from '../resolution/html.ts';
import {curlOf} from './curl.ts';
import {docsScript} from './docs-script.ts';
import {docsStyle} from './docs-style.ts';
import type {OpenApiDocument} from './document.ts';
import type {JsonSchema} from './json-schema.ts';
import type {Operation, Parameter, Response} from './operation.ts';
import {sampleOf} from './sample.ts';
import {boundsOf, fieldList, schemaName, typeText} from './type-text.ts';

/** `code` and **strong**: all markup in the document's descriptions, beside paragraphs. */
const marked = (text: string): Html =>
	html`${text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
		if (part.startsWith('`')) {
			return html`<code>${part.slice(1, -1)}</code>`;
		}

		return part.startsWith('**') ? html`<strong>${part.slice(2, -2)}</strong>` : part;
	})}`;

const sample = (value: unknown): Html =>
	html`<details class="sample"><summary>Example</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`;

const parameterLine = ({name, in: place, required, schema, description}: Parameter): Html =>
	html`<li><code class="name">${name}</code>${
		required && html`<span class="required">required</span>`
	} <code class="type">${typeText(schema)}</code> <span class="bounds">${[`in ${place}`, boundsOf(schema), description]
		.filter(Boolean)
		.join('; ')}</span></li>`;

const parameters = ({parameters: all = []}: Operation): Html | null =>
	all.length === 0 ? null : html`<h4>Parameters</h4><ul class="fields">${all.map(parameterLine)}</ul>`;

const body = ({requestBody}: Operation): Html | null => {
	const [first] = Object.entries(requestBody?.content ?? {});
	if (requestBody === undefined || first === undefined) {
		return null;
	}

	const [, {schema, example}] = first;
	return html`<h4>Body, ${Object.keys(requestBody.content).join(' or ')}</h4>${
		fieldList(schema) ?? html`<p>${schema['description'] as string | undefined}</p>`
	}${example !== undefined && sample(example)}`;
};

const responseLine = (
	status: string,
	response: Response,
	document: OpenApiDocument,
): {isRefusal: boolean; line: Html} => {
	if ('$ref' in response) {
		const shared = document.components.responses[response.$ref.split('/').at(-1) ?? ''] as {description: string};
		return {isRefusal: true, line: html`<li><span class="status">${status}</span> ${shared.description}</li>`};
	}

	const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
	const {schemas} = document.components;
	const isJson = content !== undefined && type === 'application/json' && content.schema['type'] !== 'string';
	return {
		isRefusal: false,
		line: html`<li><span class="status">${status}</span> ${response.description}${
			type !== undefined && html` <code class="type">${isJson ? typeText(content?.schema ?? {}) : type}</code>`
		}${isJson && schemaName(content.schema) === null && fieldList(content.schema)}${
			isJson && sample(sampleOf(content.schema, schemas, {isWhole: true}))
		}</li>`,
	};
};

const responses = (operation: Operation, document: OpenApiDocument): Html => {
	const lines = Object.entries(operation.responses).map(([status, one]) => responseLine(status, one, document));
	return html`<h4>Answers</h4><ul class="fields">${lines.filter(({isRefusal}) => !isRefusal).map(({line}) => line)}</ul>
<h4>Refusals, all with the schema <a href="#schema-Error">Error</a></h4><ul class="fields">${lines
		.filter(({isRefusal}) => isRefusal)
		.map(({line}) => line)}</ul>`;
};

const credential = ({security}: Operation): string => {
	const [scheme] = security.flatMap((one) => Object.keys(one));
	return scheme === undefined ? 'No credential.' : `Credential: ${scheme}.`;
};

const command = (curl: string | null): Html | null =>
	curl === null ? null : html`<pre class="curl"><code>${curl}</code><button type="button" hidden>Copy</button></pre>`;

const operationBlock = (
	method: string,
	path: string,
	operation: Operation,
	document: OpenApiDocument,
): Html => html`<details class="operation" id="${operation.operationId}"><summary><span class="method ${method}">${method.toUpperCase()}</span><code class="path">${path}</code><span class="summary">${operation.summary}</span></summary>
<div class="detail"><p>${credential(operation)} ${marked(operation.description ?? '')}</p>${command(curlOf(method, path, operation, document))}${parameters(operation)}${body(operation)}${responses(operation, document)}</div></details>
`;

const anchorOf = (tag: string): string => tag.toLowerCase().replaceAll(/\W+/g, '-');

const section = ({name, description}: {name: string; description: string}, document: OpenApiDocument): Html => {
	const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods)
			.filter(([, {tags}]) => tags.includes(name))
			.map(([method, operation]) => operationBlock(method, path, operation, document)),
	);
	return html`<section><h2 id="${anchorOf(name)}">${name}</h2><p class="about">${description}</p>${operations}</section>`;
};

const schemaBlock = ([name, schema]: [
	string,
	JsonSchema,
]): Html => html`<details class="operation" id="schema-${name}"><summary><span class="method">schema</span><code class="path">${name}</code></summary>
<div class="detail">${fieldList(schema) ?? html`<p><code>${typeText(schema)}</code></p>`}</div></details>
`;

/** The document as one page, which needs no script. */
export const docsPage = (document: OpenApiDocument): string => {
	const {info, tags, components} = document;
	return render(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${info.title} API</title>
<link rel="icon" href="data:,">
<style>${trusted(docsStyle)}</style>
</head>
<body>
<div class="page">
<nav aria-label="Groups"><details id="groups"><summary>Contents</summary><ul>${tags.map(
		({name}) => html`<li><a href="#${anchorOf(name)}">${name}</a></li>`,
	)}<li><a href="#schemas">Schemas</a></li></ul></details></nav>
<main>
<h1>${info.title} API <small>${info.version}</small></h1>
<p class="find" hidden><input type="search" id="search" placeholder="Search: links, PATCH, deviceId …" aria-label="Search" autocomplete="off"></p>
<p class="about" id="found" role="status"></p>
<div id="lead">${info.description.split('\n\n').map((paragraph) => html`<p class="lead">${marked(paragraph)}</p>`)}
<p class="lead">The same for programs: <a href="/openapi.json">/openapi.json</a>.</p></div>
${tags.map((tag) => section(tag, document))}
<section><h2 id="schemas">Schemas</h2><p class="about">What answers are made of.</p>${Object.entries(components.schemas).map(schemaBlock)}</section>
</main>
</div>
<script>${trusted(docsScript)}</script>
</body>
</html>
`);
};

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is loaded or framed; the only style sheet and the only script are allowed by their hashes. */
export const docsPageHeaders: Record<string, string> = {
	'Content-Type': 'text/html; charset=utf-8',
	'Referrer-Policy': 'no-referrer',
	'Content-Security-Policy': [
		"default-src 'none'",
		`style-src ${hashOf(docsStyle)}`,
		`script-src ${hashOf(docsScript)}`,
		'img-src data:',
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join('; '),
};
