import {Option} from 'commander';
import type {domainJson} from '../../links/domains/domain.ts';
import {counted, isUuid} from '../../platform/text.ts';
import {usageError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import {collect} from '../link-fields.ts';
import {requireConsent} from '../prompts.ts';
import {requireChanges, resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {type OrganizationApi, organizationApi} from '../server/link-surface.ts';
import {allAt, listAt, listPages, type Page} from '../server/list-pages.ts';
import {namedRow} from '../server/named-link.ts';
import type {Column} from '../terminal/output.ts';

type Domain = Json<ReturnType<typeof domainJson>>;

type Alias = {hostname: string; visits: number; lastVisitAt: string | null};

type UnknownCode = {id?: undefined; hostname: string; code: string | null; count: number; lastAt: string};

/** The settings of old addresses, which most domains do not have. */
const settings: Array<[title: string, value: (domain: Domain) => unknown]> = [
	['path prefixes', ({pathPrefixes}) => pathPrefixes],
	['root', ({rootUrl}) => rootUrl],
	['unknown codes', ({unknownCodes}) => unknownCodes?.url],
];

const domainFields = (domain: Domain): Array<[string, unknown]> => [
	['id', domain.id],
	['hostname', domain.hostname],
	['status', domain.status],
	['default', domain.isDefault],
	...settings.map(([title, value]): [string, unknown] => [title, value(domain)]),
];

type SetOptions = {pathPrefix?: string[]; rootUrl?: string; unknownCodes?: string; clear?: string[]};

const clearable = ['pathPrefixes', 'rootUrl', 'unknownCodes'];

const changesOf = ({pathPrefix, rootUrl, unknownCodes, clear = []}: SetOptions): Record<string, unknown> => {
	const unknown = clear.find((field) => !clearable.includes(field));
	if (unknown !== undefined) {
		throw usageError(`'${unknown}' is not a setting of a domain`, `Settings are ${clearable.join(', ')}`);
	}

	return {
		...Object.fromEntries(clear.map((field) => [field, null])),
		...(pathPrefix === undefined ? {} : {pathPrefixes: pathPrefix}),
		...(rootUrl === undefined ? {} : {rootUrl}),
		...(unknownCodes === undefined ? {} : {unknownCodes: {url: unknownCodes}}),
	};
};

/** The unknown codes of these domains, most visits first. */
const listUnknownCodes = async (
	{client, path}: OrganizationApi,
	domains: readonly Domain[],
	options: PageOptions,
): Promise<Page<UnknownCode>> => {
	const pages = await Promise.all(
		domains.map(async ({id, hostname}) => {
			const page = await listPages(listAt<UnknownCode>(client, `${path}/domains/${id}/unknown-codes`), options);
			return {...page, data: page.data.map((code) => ({...code, hostname}))};
		}),
	);
	const sum = (name: 'total' | 'limit') => pages.reduce((all, page) => all + page[name], 0);
	const data = pages.flatMap((page) => page.data).toSorted((a, b) => b.count - a.count);
	return {data, total: sum('total'), page: pages[0]?.page ?? 1, limit: sum('limit')};
};

/** The question before a removal, with the number of links that move to the shared domain. */
const removalQuestion = async ({client, path, org}: OrganizationApi, domain: string): Promise<string> => {
	const {id, hostname} = await namedRow<Domain>({client, path}, 'domain', domain);
	const {total} = await client.get<Page<unknown>>(`${path}/links`, {domainId: id, limit: 1});
	const moved =
		total === 0 ? 'No link is on it.' : `It has ${counted(total, 'link')}, which move to the shared domain.`;
	return `Remove domain ${hostname} of ${org}? ${moved}`;
};

const named = {path: 'domains', kind: 'domain', isUnique: () => true} as const;
const domains = resource<Domain>({...named, fields: domainFields});

/** Verify, approve, reject and default are a POST each. */
const step = (
	word: 'verify' | 'approve' | 'reject' | 'default',
	summary: string,
	{examples = [`${word} go.acme.example`], ...more}: Partial<Parameters<typeof domains.request>[0]> = {},
) => domains.request({usage: `${word} [org] <domain>`, route: `POST :row/${word}`, summary, examples, ...more});

export const domainCommands: CommandGroup = {
	name: 'domains',
	summary: 'Manage link domains',
	commands: [
		command({
			usage: 'list [org]',
			summary: 'List the domains of an organization',
			examples: ['list', 'list --org Ab12 --json'],
			options: pageOptions(),
			run: async (context) => {
				const {client, path} = await organizationApi(context);
				const page = await listPages(listAt<Domain>(client, `${path}/domains`), context.options);
				await context.show.page(page, [
					{title: 'ID', value: ({id}) => id},
					{title: 'HOSTNAME', value: ({hostname}) => hostname, flexible: true},
					{title: 'STATUS', value: ({status}) => status},
					{title: 'DEFAULT', value: ({isDefault}) => isDefault},
					...settings
						.filter(([, value]) => page.data.some((domain) => value(domain) !== undefined))
						.map(([title, value]) => ({title: title.toUpperCase(), value, flexible: true})),
				]);
				if (page.total === 1 && page.data[0]?.verification === null && !context.show.json) {
					await context.show.note('That is the shared domain. Next: oplink domains add HOSTNAME adds one of your own');
				}
			},
		}),

		resource<Domain>({
			...named,
			fields: (domain) => [
				...domainFields(domain),
				['record', domain.verification ? Object.values(domain.verification).join(' ') : undefined],
			],
		}).request({
			usage: 'show [org] <domain>',
			route: 'GET :row',
			summary: 'Show a domain, its DNS record and its redirects',
			examples: ['show go.acme.example'],
		}),

		domains.request({
			usage: 'set [org] <domain>',
			route: 'PATCH :row',
			summary: 'Change the path prefixes and redirects of a domain',
			examples: [
				'set go.acme.example --path-prefix promos --path-prefix links/share',
				"set go.acme.example --root-url https://www.acme.example --unknown-codes 'https://old.example.link/{code}'",
			],
			options: [
				new Option('--path-prefix <prefix>', 'path prefix before short codes (repeatable)').argParser(collect),
				new Option('--root-url <url>', 'URL that the domain itself redirects to'),
				new Option('--unknown-codes <url>', 'URL that unknown codes redirect to; {code} becomes the code'),
				new Option('--clear <setting>', `clear a setting: ${clearable.join(', ')}`).argParser(collect),
			],
			body: (options: SetOptions) =>
				requireChanges(changesOf(options), 'Give --path-prefix, --root-url, --unknown-codes or --clear', 'set'),
		}),

		command({
			usage: 'unknown [org] [domain]',
			summary: 'List visited codes without a link, most visits first',
			examples: ['unknown', 'unknown go.acme.example --all --json'],
			options: pageOptions(),
			run: async (context, domain?: string) => {
				const chosen = await organizationApi(context, domain);
				const all =
					domain === undefined
						? await allAt<Domain>(chosen.client, `${chosen.path}/domains`)
						: [await namedRow<Domain>(chosen, 'domain', domain)];
				const own = all.filter(({verification}) => verification);
				await context.show.page(
					await listUnknownCodes(chosen, own, context.options),
					[
						{title: 'CODE', value: ({code}) => code ?? '(further codes)', flexible: true},
						{title: 'VISITS', value: ({count}) => count, align: 'right'},
						{title: 'LAST', value: ({lastAt}) => lastAt},
						{title: 'HOSTNAME', value: ({hostname}) => hostname, flexible: true},
					],
					'oplink domains show DOMAIN shows its redirects',
				);
			},
		}),

		command({
			usage: 'aliases',
			summary: 'List the aliases of the shared domain with recent visits',
			about: 'Visits are those of the last 30 days.',
			examples: ['aliases', 'aliases --json'],
			run: async ({connection, show}) => {
				const aliases = await connection.admin().get<{data: Alias[]}>('/admin/domains/aliases');
				const columns: Array<Column<Alias>> = [
					{title: 'HOSTNAME', value: ({hostname}) => hostname, flexible: true},
					{title: 'VISITS 30D', value: ({visits}) => visits, align: 'right'},
					{title: 'LAST VISIT', value: ({lastVisitAt}) => lastVisitAt ?? 'never'},
				];
				await show.answer(aliases, ({data}) => show.table(columns, data));
				if (aliases.data.length === 0 && !show.json) {
					await show.note('None yet. Next: LINK_DOMAIN_ALIASES names hosts that serve what LINK_DOMAIN serves');
				}
			},
		}),

		command({
			usage: 'add [org] <hostname>',
			summary: 'Add a domain and show the DNS record to create',
			examples: ['add go.acme.example --org Ab12'],
			run: async (context, hostname: string) => {
				const {show} = context;
				const {client, path} = await organizationApi(context);
				const domain = await client.post<Domain>(`${path}/domains`, {hostname});
				await show.fields(domain, domainFields);
				const {verification: record} = domain;
				if (domain.status === 'REJECTED') {
					await show.note('This name is blocked: no record verifies it until an operator runs oplink domains approve');
				} else if (record) {
					const line = `${record.name} ${record.type} ${record.value}`;
					await show.note(`Set this DNS record of ${domain.hostname}, then run oplink domains verify:\n  ${line}`);
				}
			},
		}),

		step('verify', 'Look up the DNS record and verify the domain'),
		step('approve', 'Verify a domain without its DNS record'),
		step('reject', 'Reject a domain', {
			about: 'A rejected domain is not served, and its name is blocked until it is approved.',
			examples: ['reject go.acme.example --yes'],
			question: (domain) => `Reject domain ${domain}? Its links stop at once, and nobody can verify the name.`,
		}),
		step('default', 'Set the default domain of new links', {
			about: 'DOMAIN is a verified domain, or the shared domain to clear the default.',
			examples: ['default go.acme.example', 'default links.example.com'],
		}),

		command({
			usage: 'remove [org] <domain>',
			summary: 'Remove a domain',
			examples: ['remove go.acme.example --yes'],
			options: [yesOption()],
			run: async (context, domain: string) => {
				await requireConsent(context, async () => removalQuestion(await organizationApi(context, domain), domain));
				const chosen = await organizationApi(context, domain);
				const found = isUuid(domain) ? null : await namedRow<Domain>(chosen, 'domain', domain);
				if (found !== null && !found.verification) {
					throw usageError(
						`${domain} is the shared domain, which cannot be removed`,
						'oplink domains default DOMAIN makes another one the default of new links',
					);
				}

				const removed = await chosen.client.delete(`${chosen.path}/domains/${found?.id ?? domain}`);
				await context.show.answer(removed, () => `Removed domain ${domain}`);
			},
		}),
	],
};
