import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import type {Context} from '../command.ts';
import {linesOf, type Source} from '../lines.ts';
import {createConnection} from '../server/connection.ts';

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

/** `seconds` until the next attempt. */
export type Link = {state: 'live'} | {state: 'connecting'} | {state: 'waiting'; seconds: number; reason: string};

/** The state of the stream, with the event that arrived. */
type Step = {link: Link; event?: ServerSentEvent};

/** The server sends a heartbeat every 15 seconds. */
const SILENCE_SECONDS = 40;
const MAX_WAIT = 10;

/** Faults that a retry does not fix: the token, the organization. */
const isFinal = (error: unknown): boolean =>
	error instanceof OplinkApiError && error.status < 500 && error.status !== 429;

const reasonOf = (error: unknown): string =>
	error instanceof OplinkConnectionError ? error.reason : error instanceof Error ? error.message : String(error);

/**
 * Follows the click stream until `signal`, by default Ctrl-C. If the connection is lost it retries with growing pauses and
 * resumes from its position.
 * @throws OplinkApiError for a permanent refusal.
 */
export async function* follow(
	{io, options}: Pick<Context, 'io' | 'options'>,
	query: {orgId?: string; of?: 'apps'},
	signal: AbortSignal = io.interruption,
): AsyncGenerator<Step> {
	let cursor: string | null = null;
	for (let failures = 0; !signal.aborted; failures += 1) {
		yield {link: {state: 'connecting'}};
		let reason = 'the server ended the stream';
		const silence = new AbortController();
		const watch = setTimeout(() => silence.abort(), SILENCE_SECONDS * 1000);
		try {
			const headers: Record<string, string> = cursor === null ? {} : {'Last-Event-ID': cursor};
			const interruption = AbortSignal.any([signal, silence.signal]);
			const client = createConnection(options, {...io, interruption}).admin();
			for await (const event of readEvents(client.stream('/admin/clicks/stream', query, {headers}))) {
				failures = 0;
				cursor = event.id ?? cursor;
				yield {link: {state: 'live'}, event};
				watch.refresh();
			}
		} catch (error) {
			if (isFinal(error)) {
				throw error;
			}

			reason = silence.signal.aborted ? 'the server is silent' : reasonOf(error);
		} finally {
			clearTimeout(watch);
		}

		for (let seconds = Math.min(MAX_WAIT, 2 ** failures); seconds > 0 && !signal.aborted; seconds -= 1) {
			yield {link: {state: 'waiting', seconds, reason}};
			for (let quarter = 0; quarter < 4 && !signal.aborted; quarter += 1) {
				await io.sleep(0.25).catch(() => {});
			}
		}
	}
}
