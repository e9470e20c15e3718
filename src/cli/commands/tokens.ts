import {Option} from 'commander';
import type {OperatorToken} from '../../accounts/tokens/token-store.ts';
import {allScopes, presetNames} from '../../platform/config/operator-scopes.ts';
import {notFoundError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {collect} from '../link-fields.ts';
import {timeText} from '../match-trace.ts';
import {requireConsent} from '../require-consent.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {allAt} from '../server/list-pages.ts';

type Row = Json<OperatorToken> & {token?: string};
type NewOptions = {name: string; scope: string[]; org?: string; expires?: string};

const tokens = resource<Row>({
	path: 'tokens',
	ofServer: true,
	fields: ({id, name, scopes, organizationId, expiresAt, token}) => [
		['id', id],
		['name', name],
		['scopes', scopes],
		['organization', organizationId ?? undefined],
		['expires', expiresAt ?? undefined],
		['token', token],
	],
});

export const tokenCommands: CommandGroup = {
	name: 'tokens',
	summary: 'Manage operator tokens',
	commands: [
		tokens.request({
			usage: 'create',
			route: 'POST',
			summary: 'Create a token and show it, this once',
			examples: [
				'create --name ci --scope links:write --scope stats:read --org Ab12 --expires 90d',
				'create --name ann --scope viewer',
			],
			options: [
				new Option('--name <name>', 'who or what it is for; the audit log names it').makeOptionMandatory(),
				new Option(
					'--scope <scope>',
					`${presetNames.join(', ')}, or such as ${allScopes[1]} (repeatable); oplink help scopes says what each holds`,
				)
					.argParser(collect)
					.makeOptionMandatory(),
				new Option('--org <org>', 'id or orgKey of the only organization that it reaches (default: all)'),
				new Option('--expires <time>', 'such as 12h or 90d (default and maximum: the end of the token that makes it)'),
			],
			body: ({name, scope, org, expires}: NewOptions) => ({
				name,
				scopes: scope,
				...(org === undefined ? {} : {organization: org}),
				...(expires === undefined ? {} : {expires}),
			}),
			note: () => 'The token is shown this once',
		}),
		tokens.list({
			summary: 'List tokens, newest first, with the day of their last use',
			examples: ['list', 'list --json'],
			columns: [
				{title: 'NAME', value: ({name}) => name},
				{title: 'SCOPES', value: ({scopes}) => scopes.join(' '), flexible: true},
				{title: 'EXPIRES (UTC)', value: ({expiresAt}) => (expiresAt === null ? 'never' : timeText(expiresAt))},
				{title: 'LAST USED', value: ({lastUsedOn}) => lastUsedOn ?? 'never'},
			],
			empty: 'oplink tokens create --name ci --scope links:write',
		}),
		command({
			usage: 'revoke <name>',
			summary: 'Revoke a token by its name or id, and those it made: from their next request on they are refused',
			examples: ['revoke ci --yes'],
			options: [yesOption()],
			run: async (context, named: string) => {
				const client = context.connection.admin();
				await requireConsent(context, async () => `Revoke the token ${named}, and those it made?`);
				const all = await allAt<Row>(client, '/admin/tokens');
				const found = all.find(({id, name}) => id === named || name === named);
				if (found === undefined) {
					throw notFoundError(`There is no token '${named}'`, 'oplink tokens list shows them');
				}

				const answer = await client.delete(`/admin/tokens/${found.id}`);
				await context.show.answer(answer, () => `Revoked the token ${found.name}`);
			},
		}),
	],
};
