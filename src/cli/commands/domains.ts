import {isUuid} from '../../uuid.ts';
import {notFoundError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {type PageOptions, pageOptions, yesOption} from '../common-options.ts';
import type {ApiClient} from '../server/admin-client.ts';
import {organizationPath} from '../server/link-surface.ts';
import {eachPage, listAt, listPages} from '../server/list-pages.ts';
import {requireConsent} from '../terminal/require-consent.ts';

type Domain = {
	id: string;
	hostname: string;
	status: string;
	isDefault: boolean;
	verification?: {type: string; name: string; value: string} | null;
};

const domainsPath = (org: string): string => `${organizationPath(org)}/domains`;

const domainFields = ({id, hostname, status, isDefault}: Domain): Array<[string, unknown]> => [
	['id', id],
	['hostname', hostname],
	['status', status],
	['default', isDefault],
];

/** The id of a domain given by id or hostname. @throws OperatorError for an unknown hostname. */
const domainId = async (client: ApiClient, org: string, domain: string): Promise<string> => {
	if (isUuid(domain)) {
		return domain;
	}

	for await (const {data} of eachPage(listAt<Domain>(client, domainsPath(org)))) {
		const found = data.find(({hostname}) => hostname.toLowerCase() === domain.toLowerCase());
		if (found) {
			return found.id;
		}
	}

	throw notFoundError(`Organization ${org} has no domain '${domain}'`, `oplink domains list ${org} shows them`);
};

const recordToSet = ({hostname, verification}: Domain): string | null =>
	verification
		? `Set this DNS record of ${hostname}, then run oplink domains verify:\n  ${verification.name} ${verification.type} ${verification.value}`
		: null;

/** Verify, approve, reject and default are a POST each. */
const step = (word: 'verify' | 'approve' | 'reject' | 'default', summary: string, otherExamples: string[] = []) =>
	command({
		usage: `${word} <org> <domain>`,
		summary,
		examples: [`${word} Ab12 go.acme.example`, ...otherExamples],
		run: async ({connection, show}, org: string, domain: string) => {
			const client = connection.admin();
			const id = await domainId(client, org, domain);
			await show.fields(
				await client.post<Domain>(`${domainsPath(org)}/${encodeURIComponent(id)}/${word}`),
				domainFields,
			);
		},
	});

export const domainCommands: CommandGroup = {
	name: 'domains',
	summary: "Manage an organization's link domains",
	commands: [
		command({
			usage: 'list <org>',
			summary: 'List the domains of an organization',
			examples: ['list Ab12'],
			options: pageOptions(),
			run: async ({connection, options, show}: Context<PageOptions>, org: string) => {
				const page = await listPages(listAt<Domain>(connection.admin(), domainsPath(org)), options);
				await show.page(page, [
					{title: 'ID', value: ({id}) => id},
					{title: 'HOSTNAME', value: ({hostname}) => hostname, flexible: true},
					{title: 'STATUS', value: ({status}) => status},
					{title: 'DEFAULT', value: ({isDefault}) => isDefault},
				]);
			},
		}),

		command({
			usage: 'add <org> <hostname>',
			summary: 'Add a domain and show the DNS record that proves it',
			examples: ['add Ab12 go.acme.example'],
			run: async ({connection, show}, org: string, hostname: string) => {
				const domain = await connection.admin().post<Domain>(domainsPath(org), {hostname});
				await show.fields(domain, domainFields);
				const record = recordToSet(domain);
				if (record !== null) {
					await show.note(record);
				}
			},
		}),

		step('verify', 'Look up the DNS record and verify the domain'),
		step('approve', 'Verify a domain without its DNS record'),
		step('reject', 'Reject a domain: it is not served'),
		step('default', 'Make a verified domain the default for new links; name the shared domain to undo it', [
			'default Ab12 links.example.com',
		]),

		command({
			usage: 'remove <org> <domain>',
			summary: 'Remove a domain',
			examples: ['remove Ab12 go.acme.example --yes'],
			options: [yesOption()],
			run: async ({io, connection, options, show}: Context<{yes?: boolean}>, org: string, domain: string) => {
				const client = connection.admin();
				await requireConsent(io, options.yes, `Remove domain ${domain} of ${org}?`);
				const id = await domainId(client, org, domain);
				await show.answer(
					await client.delete(`${domainsPath(org)}/${encodeURIComponent(id)}`),
					() => `Removed domain ${domain}`,
				);
			},
		}),
	],
};
