import {type AnyCommand, type CommandSpec, command} from './command.ts';
import {pageOptions, yesOption} from './common-options.ts';
import {chosenPath} from './server/link-surface.ts';
import {listAt, listPages} from './server/list-pages.ts';
import {type Kind, pathOfNamed} from './server/named-row.ts';
import type {Column} from './terminal/output.ts';
import {requireConsent} from './terminal/require-consent.ts';

type Words = Pick<CommandSpec, 'summary' | 'examples'> & {usage?: string};

/**
 * A command that lists what an organization has, such as its devices.
 * @param path the list's path below the organization's. @param empty advice to print if the list is empty.
 */
export const listCommand = <Row>({
	path,
	columns,
	empty,
	...words
}: Words & {path: string; columns: Array<Column<Row>>; empty: string}): AnyCommand =>
	command({
		usage: 'list [org]',
		...words,
		options: pageOptions(),
		run: async (context) => {
			const {client, path: organization} = await chosenPath(context);
			const page = await listPages(listAt<Row>(client, `${organization}/${path}`), context.options);
			await context.show.page(page, columns, empty);
		},
	});

/** A command that deletes a named part of an organization, after a question. @param consequence ' ' and a sentence. */
export const deleteCommand = (kind: Kind, {consequence = '', ...words}: Words & {consequence?: string}): AnyCommand =>
	command({
		usage: `delete [org] <${kind}>`,
		...words,
		options: [yesOption()],
		run: async (context, name: string) => {
			await requireConsent(context, `Delete ${kind} ${name}?${consequence}`);
			const chosen = await chosenPath(context);
			const deleted = await chosen.client.delete(await pathOfNamed(chosen, kind, name));
			await context.show.answer(deleted, () => `Deleted ${kind} ${name}`);
		},
	});
