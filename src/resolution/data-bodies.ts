import {bytesAsText} from './page-templates.ts';
import type {LinkRow} from './resolve-link.ts';

/** What `/data` answers for a link, written once, as the bytes of its UTF-8. */
export const createDataBodies = () => {
	const bodies = new WeakMap<LinkRow, string>();
	return (row: LinkRow): string => {
		const known = bodies.get(row);
		if (known !== undefined) {
			return known;
		}

		const body = bytesAsText(
			JSON.stringify({
				linkId: row.id,
				path: row.path ?? '/',
				params: {...row.template_params, ...row.params},
			}),
		);
		bodies.set(row, body);
		return body;
	};
};
