import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {gunzip, gzip} from 'node:zlib';
import Negotiator from 'negotiator';
import {type Route, route} from '../../accounts/auth/route.ts';
import {limits} from '../../platform/config/limits.ts';
import {etagOf, isKnown} from '../../platform/http/headers.ts';
import {type DeclaredRoute, type Reply, type RequestFacts, reply} from '../../platform/http/route.ts';
import {packageRoot, packageVersion} from '../../platform/package-root.ts';
import type {Services} from '../../services.ts';
import {openApiDocument} from './document.ts';

/** The bytes of a public answer, made once: plain, compressed, and their ETag. */
type Content = {plain: Buffer; gzip: Buffer; etag: string};

const contentOf = (plain: Buffer, gzip: Buffer): Content => ({plain, gzip, etag: etagOf(plain)});

const answerWith = ({plain, gzip, etag}: Content, request: RequestFacts, own: Record<string, string>): Reply => {
	const caching = {'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding', ETag: etag};
	if (isKnown(etag, request.headers['if-none-match'])) {
		return reply({status: 304, headers: caching});
	}

	const isCompressed = new Negotiator(request).encoding(['gzip', 'identity']) === 'gzip';
	const encoding = isCompressed ? {'Content-Encoding': 'gzip'} : {};
	return reply({headers: {...caching, ...encoding, ...own}, body: isCompressed ? gzip : plain});
};

/** What `scripts/api-page.ts` makes. */
const readPage = async (): Promise<{page: Content; policy: string}> => {
	const [compressed, policy] = await Promise.all(
		['page.html.gz', 'policy.txt'].map((file) => readFile(path.join(packageRoot, 'dist/docs', file))),
	);
	const bytes = compressed ?? Buffer.alloc(0);
	return {page: contentOf(await promisify(gunzip)(bytes), bytes), policy: String(policy)};
};

/** The document as JSON and its viewer, each created on first request (contract/operations 3). @param all every route. */
export const documentRoutes = (all: () => readonly DeclaredRoute[]): Route[] => {
	const made = new WeakMap<Services['addresses'], Promise<Content>>();
	let viewer: ReturnType<typeof readPage> | null = null;

	const make = async ({publicUrl, linkScheme, linkDomain}: Services['addresses']): Promise<Content> => {
		const about = {publicUrl, linkUrl: `${linkScheme}://${linkDomain}`, version: packageVersion()};
		const bytes = Buffer.from(JSON.stringify(openApiDocument(all(), about)));
		return contentOf(bytes, await promisify(gzip)(bytes));
	};
	const documentOf = (addresses: Services['addresses']): Promise<Content> => {
		const known = made.get(addresses) ?? make(addresses);
		made.set(addresses, known);
		return known;
	};

	return [
		route('GET', '/openapi.json', {
			summary: 'Get this document',
			answer: {media: ['application/json'], about: 'OpenAPI 3.1.'},
			otherAnswers: {304: null},
			credential: 'none',
			limit: limits.documents,
			handler: async ({services, request}) =>
				answerWith(await documentOf(services.addresses), request, {'Content-Type': 'application/json; charset=utf-8'}),
		}),

		route('GET', '/docs', {
			summary: 'Get this document as a page',
			answer: {media: ['text/html'], about: 'It loads nothing from elsewhere.'},
			otherAnswers: {304: null},
			credential: 'none',
			limit: limits.documents,
			handler: async ({request}) => {
				viewer ??= readPage().catch((error: unknown) => {
					viewer = null;
					throw error;
				});
				const {page, policy} = await viewer;
				return answerWith(page, request, {
					'Content-Type': 'text/html; charset=utf-8',
					'Referrer-Policy': 'no-referrer',
					'Content-Security-Policy': policy,
				});
			},
		}),
	];
};
