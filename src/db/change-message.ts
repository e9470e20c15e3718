/**
 * What a cache may no longer say: of one link, of an organization, of domains and all that stands on them, of association
 * files, or all.
 */
export type Change =
	| {kind: 'link'; orgKey: string; shortCode: string}
	| {kind: 'organization'; orgKey: string}
	| {kind: 'domains'}
	| {kind: 'files'}
	| {kind: 'everything'};

/** The change that a message of the triggers tells; null where it tells none. */
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
