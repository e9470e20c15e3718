import {isUuid} from '../../platform/uuid.ts';
import {notFoundError, usageError} from '../cli-errors.ts';
import type {Chosen, LinkSurface} from './link-surface.ts';
import {eachPage, listAt} from './list-pages.ts';

type Named = {id: string; name?: string; hostname?: string};
export type Kind = 'channel' | 'domain' | 'template';

const nameOf = ({name, hostname}: Named): string => (name ?? hostname ?? '').toLowerCase();

/** A row of an organization's list, by its id or its name, in any case. @throws OperatorError for an unknown one. */
export const namedRow = async <Row extends Named>(
	{client, path}: Pick<Chosen, 'client' | 'path'>,
	kind: Kind,
	named: string,
): Promise<Row> => {
	const wanted = named.toLowerCase();
	const names: string[] = [];
	for await (const {data} of eachPage(listAt<Row>(client, `${path}/${kind}s`))) {
		const found = data.find((row) => row.id === wanted || nameOf(row) === wanted);
		if (found) {
			return found;
		}

		names.push(...data.map(({name, hostname}) => name ?? hostname ?? ''));
	}

	throw notFoundError(
		`The organization has no ${kind} '${named}'`,
		names.length === 0
			? `It has none: oplink ${kind}s ${kind === 'domain' ? 'add' : 'create'}`
			: `It has ${names.join(', ')}`,
	);
};

/** The path of such a row; an id is not looked up. */
export const pathOfNamed = async (chosen: Chosen, kind: Kind, named: string): Promise<string> =>
	`${chosen.path}/${kind}s/${isUuid(named) ? named : (await namedRow(chosen, kind, named)).id}`;

/** The body of a link with ids in place of the names of a domain and a template. */
export const withIds = async (
	{client, base, credential}: LinkSurface,
	body: Record<string, unknown>,
): Promise<Record<string, unknown>> => {
	const ids: Record<string, unknown> = {};
	for (const [field, kind] of [
		['domainId', 'domain'],
		['templateId', 'template'],
	] as const) {
		const named = body[field];
		if (typeof named === 'string' && !isUuid(named)) {
			if (credential === 'key') {
				throw usageError(`A SERVER key cannot look up the ${kind} '${named}'`, `Give its id to --${kind}`);
			}

			ids[field] = (await namedRow({client, path: base.replace(/\/links$/, '')}, kind, named)).id;
		}
	}

	return {...body, ...ids};
};
