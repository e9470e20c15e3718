import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import {linesOf, type Source} from '../lines.ts';
import type {ApiClient} from '../server/admin-client.ts';

/** An event of the stream; `id` is the position to resume from after it. */
export type ServerSentEvent = {type: string; data: string; id: string | null};

/**
 * Parses a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). A comment or
 * an id alone comes with an empty type: it proves that the server is alive.
 */
export async function* readEvents(source: Source): AsyncGenerator<ServerSentEvent> {
	let type = '';
	let data: string[] = [];
	let id: string | null = null;
	for await (const line of linesOf(source)) {
		if (line === '') {
			yield data.length === 0 ? {type: '', data: '', id} : {type: type || 'message', data: data.join('\n'), id};
			type = '';
			data = [];
			continue;
		}

		const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
		if (field === 'event') {
			type = value;
		} else if (field === 'data') {
			data.push(value);
		} else if (field === 'id') {
			id = value;
		}
	}
}

/** State of the stream; `seconds` until the next attempt. */
export type Link = {state: 'live'} | {state: 'connecting'} | {state: 'waiting'; seconds: number; reason: string};

type Following = {
	/** A client whose requests `signal` aborts. */
	connect: (signal: AbortSignal) => ApiClient;
	query: {orgId?: string; of?: 'apps'};
	signal: AbortSignal;
	sleep: (seconds: number) => Promise<void>;
	onEvent: (event: ServerSentEvent) => void;
	onLink: (link: Link) => void;
};

/** The server sends a heartbeat every 15 seconds. */
const SILENCE_SECONDS = 40;
const MAX_WAIT = 10;

/** Faults that a retry does not fix: the token, the organization. */
const isFinal = (error: unknown): boolean =>
	error instanceof OplinkApiError && error.status < 500 && error.status !== 429;

const reasonOf = (error: unknown): string =>
	error instanceof OplinkConnectionError ? error.reason : error instanceof Error ? error.message : String(error);

/**
 * Follows the click stream until `signal`. If the connection is lost it retries with growing pauses and resumes from
 * its position.
 * @throws OplinkApiError for a permanent refusal.
 */
export const follow = async ({connect, query, signal, sleep, onEvent, onLink}: Following): Promise<void> => {
	let cursor: string | null = null;
	let failures = 0;
	const attempt = async (): Promise<string> => {
		const silence = new AbortController();
		const ends = AbortSignal.any([signal, silence.signal]);
		const watch = setTimeout(() => silence.abort(), SILENCE_SECONDS * 1000);
		try {
			const headers: Record<string, string> = cursor === null ? {} : {'Last-Event-ID': cursor};
			for await (const event of readEvents(connect(ends).stream('/admin/clicks/stream', query, {headers}))) {
				watch.refresh();
				failures = 0;
				cursor = event.id ?? cursor;
				onLink({state: 'live'});
				onEvent(event);
			}

			return 'the server ended the stream';
		} catch (error) {
			if (isFinal(error)) {
				throw error;
			}

			return silence.signal.aborted ? 'the server is silent' : reasonOf(error);
		} finally {
			clearTimeout(watch);
		}
	};

	while (!signal.aborted) {
		onLink({state: 'connecting'});
		const reason = await attempt();
		failures += 1;
		for (let seconds = Math.min(MAX_WAIT, 2 ** (failures - 1)); seconds > 0 && !signal.aborted; seconds -= 1) {
			onLink({state: 'waiting', seconds, reason});
			for (let quarter = 0; quarter < 4 && !signal.aborted; quarter += 1) {
				await sleep(0.25);
			}
		}
	}
};
