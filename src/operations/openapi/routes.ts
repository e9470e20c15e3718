import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {type Route, reply, route} from '../../accounts/route.ts';
import {packageRoot, packageVersion} from '../../platform/package-root.ts';
import type {Services} from '../../services.ts';
import {openApiDocument} from './document.ts';

/** What `.build/api-page.ts` makes. It is read at each request, because few come and it is large. */
const readPage = (file: 'page.html' | 'policy.txt'): Promise<string> =>
	readFile(path.join(packageRoot, 'dist/docs', file), 'utf8');

/** The document as JSON, created on first request, and its viewer (contract/operations 3). @param all every route. */
export const documentRoutes = (all: () => readonly Route[]): Route[] => {
	const made = new WeakMap<Services['addresses'], string>();
	const jsonOf = ({addresses}: Pick<Services, 'addresses'>) => {
		const known = made.get(addresses);
		if (known !== undefined) {
			return known;
		}

		const json = JSON.stringify(
			openApiDocument(all(), {
				publicUrl: addresses.publicUrl,
				linkUrl: `${addresses.linkScheme}://${addresses.linkDomain}`,
				version: packageVersion(),
			}),
		);
		made.set(addresses, json);
		return json;
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
					body: jsonOf(services),
				}),
		}),

		route({
			method: 'GET',
			path: '/docs',
			summary: 'This document as a page',
			answer: {media: ['text/html'], about: 'It loads nothing from elsewhere.'},
			credential: 'none',
			handler: async () =>
				reply({
					headers: {
						...caching,
						'Content-Type': 'text/html; charset=utf-8',
						'Referrer-Policy': 'no-referrer',
						'Content-Security-Policy': await readPage('policy.txt'),
					},
					body: await readPage('page.html'),
				}),
		}),
	];
};
