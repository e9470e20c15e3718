import {linesOf, type Source} from '../import/formats/lines.ts';

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
