import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';

/** A request for a link, as far as its answer and its record depend on it. */
export type Visit = {
	ip: string;
	/** The host's name, without port. */
	hostname: string | null;
	headers: IncomingHttpHeaders;
	stream: IncomingMessage;
	isHead: boolean;
};

/** An answer of a link host without the headers that all have. */
export type LinkAnswer = {
	/** By default 200. */
	status?: number;
	/** Names and values alternate. */
	headers: readonly string[];
	/** UTF-8 bytes, one character per byte, to be written as `latin1`. */
	body: string;
};

/** The answer of a visit, and its outcome. */
export type VisitAnswer = LinkAnswer & {outcome: 'page' | 'preview' | 'data' | 'unknown_code' | 'warned'};
