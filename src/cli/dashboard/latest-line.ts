import {cellText} from '../terminal/output.ts';
import {type LiveEvent, linkName, methodWord} from './figures.ts';

/** An event in three cells: its kind, its subject and its details. */
export type LatestLine = {kind: string; subject: string; details: string};

const joined = (parts: Array<string | null>): string =>
	parts.filter((part) => part !== null && part !== '').join(' · ');

export const latestLine = ({type, data}: LiveEvent): LatestLine => {
	const subject = cellText(linkName(data));
	switch (type) {
		case 'click':
			return {
				kind: data.botClass === null ? 'click' : 'crawler',
				subject,
				details: cellText(data.botClass ?? joined([data.platform, data.browser, data.country])),
			};
		case 'match':
			return data.matched
				? {kind: 'match', subject, details: cellText(joined([methodWord(data.method), data.confidence]))}
				: {kind: 'miss', subject, details: cellText(data.reason)};
		default:
			return {kind: 'event', subject, details: cellText(data.eventName)};
	}
};
