import type {createFigures, LiveEvent, RecentAnswer} from './figures.ts';
import type {ServerSentEvent} from './read-events.ts';

/**
 * Passes the stream's events to the figures. After a reconnect the events behind the last id are repeated; they are
 * counted once.
 */
export const createIntake = (figures: ReturnType<typeof createFigures>): ((event: ServerSentEvent) => void) => {
	let cursor: string | null = null;
	const sinceCursor = new Set<string>();
	return ({type, data, id}) => {
		if (id !== cursor) {
			cursor = id;
			sinceCursor.clear();
		}

		if (type === 'recent') {
			figures.begin(JSON.parse(data) as RecentAnswer);
		} else if (type === 'lost') {
			figures.lose((JSON.parse(data) as {count: number}).count);
		} else if (type === 'click' || type === 'match' || type === 'event') {
			const event = {type, data: JSON.parse(data)} as LiveEvent;
			if (!sinceCursor.has(event.data.id)) {
				sinceCursor.add(event.data.id);
				figures.take(event);
			}
		}
	};
};
