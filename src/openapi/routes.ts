import {type Route, reply, route} from '../http/route.ts';
import {packageVersion} from '../package-root.ts';
import type {Services} from '../services.ts';
import {docsPage, docsPageHeaders} from './docs-page.ts';
import {type OpenApiDocument, openApiDocument} from './document.ts';

/** The document as JSON and as a page (contract/operations 3), created on first request. @param all every route. */
export const documentRoutes = (all: () => readonly Route[]): Route[] => {
	const made = new WeakMap<Services['addresses'], {document: OpenApiDocument; json: string; page: string}>();
	const documentOf = ({addresses}: Pick<Services, 'addresses'>) => {
		const known = made.get(addresses);
		if (known !== undefined) {
			return known;
		}

		const document = openApiDocument(all(), {
			publicUrl: addresses.publicUrl,
			linkUrl: `${addresses.linkScheme}://${addresses.linkDomain}`,
			version: packageVersion(),
		});
		const rendered = {document, json: JSON.stringify(document), page: docsPage(document)};
		made.set(addresses, rendered);
		return rendered;
	};
	const caching = {'Cache-Control': 'public, max-age=300'};

	return [
		route({
			method: 'GET',
			path: '/openapi.json',
			summary: 'This document',
			answer: {media: ['application/json'], about: 'OpenAPI 3.1.'},
			credential: 'none',
			handler: ({services}) =>
				reply({
					headers: {...caching, 'Content-Type': 'application/json; charset=utf-8'},
					body: documentOf(services).json,
				}),
		}),

		route({
			method: 'GET',
			path: '/docs',
			summary: 'This document as a page',
			answer: {media: ['text/html'], about: 'It loads nothing from elsewhere.'},
			credential: 'none',
			handler: ({services}) => reply({headers: {...caching, ...docsPageHeaders}, body: documentOf(services).page}),
		}),
	];
};
