/**
 * The cached values to invalidate: of one link, of an organization, of all domains and their links, of association
 * files, or all.
 */
export type Change =
	| {kind: 'link'; orgKey: string; shortCode: string}
	| {kind: 'organization'; orgKey: string}
	| {kind: 'domains'}
	| {kind: 'files'}
	| {kind: 'everything'};

/** The change in a trigger's message; null for other messages. */
export const changeOf = (payload: string): Change | null => {
	const text = payload.slice(2);
	switch (payload.slice(0, 2)) {
		case 'l:': {
			const slash = text.indexOf('/');
			return {kind: 'link', orgKey: text.slice(0, slash), shortCode: text.slice(slash + 1)};
		}

		case 'o:':
			return {kind: 'organization', orgKey: text};
		default:
			return payload === 'd' ? {kind: 'domains'} : payload === 'f' ? {kind: 'files'} : null;
	}
};
