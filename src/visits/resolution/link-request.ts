import {decodedText} from '../../platform/query.ts';

/** The routes of links (contract/hosts 4), as metrics and the API document name them. */
export const linkRoutes = {
	root: '/',
	bare: '/:shortCode',
	page: '/:orgKey/:shortCode',
	data: '/:orgKey/:shortCode/data',
	signals: '/:orgKey/:shortCode/signals',
} as const;

/** The route and the address of a path on a link host. A path of one segment has no `orgKey`. */
export type LinkPath = {
	route: (typeof linkRoutes)[keyof typeof linkRoutes];
	orgKey?: string;
	shortCode: string;
};

const SEGMENTS = /^\/(?:([^/]+)(?:\/([^/]+)(?:\/(data|signals))?)?)?\/?$/;

/** A segment of a path; one whose escapes encode nothing stays as sent, and is no code. */
const segmentOf = (text: string): string => (text.includes('%') ? (decodedText(text) ?? text) : text);

/** Reads a path as sent, without the query; null for one that names nothing. A slash at its end changes nothing. */
export const readLinkPath = (path: string): LinkPath | null => {
	const [isRead, first, second, end] = SEGMENTS.exec(path) ?? [];
	if (isRead === undefined) {
		return null;
	}

	if (first === undefined) {
		return {route: linkRoutes.root, shortCode: ''};
	}

	return second === undefined
		? {route: linkRoutes.bare, shortCode: segmentOf(first)}
		: {
				route: end === undefined ? linkRoutes.page : end === 'data' ? linkRoutes.data : linkRoutes.signals,
				orgKey: segmentOf(first),
				shortCode: segmentOf(second),
			};
};

/** Whether a method is one of a path; OPTIONS asks whether other origins may read it (contract/hosts 6). */
export const hasMethod = ({route}: LinkPath, method: string | undefined): boolean =>
	route === linkRoutes.signals ? method === 'POST' : method === 'GET' || method === 'HEAD';
