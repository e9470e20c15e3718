import type {Option} from 'commander';
import {isUuid} from '../platform/text.ts';
import {usageError} from './cli-errors.ts';
import {type AnyCommand, type CommandSpec, type Context, command} from './command.ts';
import {pageOptions, yesOption} from './common-options.ts';
import {requireConsent} from './prompts.ts';
import type {Query} from './server/admin-client.ts';
import {type OrganizationApi, organizationApi} from './server/link-surface.ts';
import {listAt, listPages} from './server/list-pages.ts';
import {type Kind, namedRow, pathOfNamed} from './server/named-link.ts';
import type {Column} from './terminal/output.ts';

/** The functions of options are methods, because each command has options of its own. */
type Words = Pick<CommandSpec, 'summary' | 'about' | 'examples' | 'options'>;

/** A list or a single object of the admin API: its path, and its form for people. */
type Resource<Row> = {
	/** Its path below the organization's or, with `ofServer`, below `/admin`. */
	path: string;
	ofServer?: true;
	/** The kind of rows that can be named; other rows are identified by their ids. */
	kind?: Kind;
	/** Whether a row's name is unique on the whole server, so that it needs no organization; by default, ids are. */
	isUnique?: (name: string) => boolean;
	/** How a row is shown; by default, as the API answers it. */
	fields?: (row: Row) => Array<[string, unknown]>;
};

type ListVerb<Row> = Words & {
	usage?: string;
	/** The path of a list of one row, below that of the row, which the first argument after ORG names. */
	below?: string;
	columns: Array<Column<Row>>;
	query?(options: object): Query;
	/** Advice for an empty list; as a function, with whether the query has any value. */
	empty?: string | ((isFiltered: boolean) => string | undefined);
};

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request. `args` are the arguments after ORG; the first one names the row if the route has `:row`. */
type RequestVerb<Row> = Words & {
	usage: string;
	route: Method | `${Method} :row${'' | `/${string}`}`;
	/** @throws OperatorError for options that make no request. */
	body?(options: object, ...args: string[]): object;
	/** The question that the operator has to confirm; it adds the option `--yes`. */
	question?: (name: string, api: () => Promise<OrganizationApi>) => string | Promise<string>;
	/** A message for standard error before the answer. */
	note?(options: object): string | null;
	/** The text for people, instead of the fields. */
	text?: (answer: Row, name: string) => string;
	exitCode?: (answer: Row) => number;
};

/** The changes of an update. @throws OperatorError for none. */
export const requireChanges = <Changes extends object>(changes: Changes, hint: string, verb = 'change'): Changes => {
	if (Object.values(changes).every((value) => value === undefined)) {
		throw usageError(`Nothing to ${verb}`, hint);
	}

	return changes;
};

/** The commands of a resource: each is one request, declared by its usage, its route and its words. */
export const resource = <Row extends object>({path, ofServer, kind, isUnique = isUuid, fields}: Resource<Row>) => {
	const apiOf = async (context: Context, owned: string | null = null): Promise<OrganizationApi> =>
		ofServer ? {client: context.connection.admin(), org: '', path: '/admin'} : organizationApi(context, owned);

	/** A list as a table, page by page. */
	const list = ({columns, query, empty, usage, below, options = pageOptions(), ...words}: ListVerb<Row>): AnyCommand =>
		command({
			usage: usage ?? (ofServer ? 'list' : 'list [org]'),
			...words,
			options,
			run: async (context, name?: string) => {
				const api = await apiOf(context, below !== undefined && name !== undefined && isUnique(name) ? name : null);
				const filters = query?.(context.options) ?? {};
				const at = below === undefined ? path : `${path}/${encodeURIComponent(name ?? '')}/${below}`;
				const rows = await listPages(listAt<Row>(api.client, `${api.path}/${at}`), context.options, filters);
				const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
				await context.show.page(rows, columns, typeof empty === 'function' ? empty(isFiltered) : empty);
			},
		});

	const request = (verb: RequestVerb<Row>): AnyCommand => {
		const {route, body, question, note, text, exitCode, options = [], ...words} = verb;
		const [method = '', target = ''] = route.split(' ');
		const allOptions: Option[] = [...options, ...(question ? [yesOption()] : [])];
		const send = async (api: OrganizationApi, name: string, content: object | undefined): Promise<Row> => {
			if (route === 'GET :row' && kind !== undefined) {
				return namedRow<Row & {id: string}>(api, kind, name);
			}

			const all = `${api.path}/${path}`;
			const row = async () =>
				kind === undefined ? `${all}/${encodeURIComponent(name)}` : pathOfNamed(api, kind, name);
			const at = target === '' ? all : (await row()) + target.slice(':row'.length);
			return api.client.request<Row>(method as Method, at, content);
		};
		return command({
			...words,
			options: allOptions,
			run: async (context, ...args: string[]) => {
				const [name = ''] = args;
				const content = body?.(context.options, ...args);
				let chosen: Promise<OrganizationApi> | null = null;
				const api = () => {
					chosen ??= apiOf(context, target !== '' && isUnique(name) ? name : null);
					return chosen;
				};
				// A missing token comes before the question; whatever needs a request comes after it.
				if (ofServer) {
					await api();
				}

				if (question) {
					await requireConsent(context, async () => question(name, api));
				}

				const answer = await send(await api(), name, content);
				await context.show.note(note?.(context.options) ?? null);
				await (text ? context.show.answer(answer, () => text(answer, name)) : context.show.fields(answer, fields));
				return exitCode?.(answer);
			},
		});
	};

	return {list, request};
};
