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
			summary: 'Create an operator token',
			about: 'The token is shown once.',
			examples: [
				'create --name ci --scope links:write --scope stats:read --org Ab12 --expires 90d',
				'create --name ann --scope viewer',
			],
			options: [
				new Option('--name <name>', 'name of the token in the audit log').makeOptionMandatory(),
				new Option(
					'--scope <scope>',
					`${presetNames.join(', ')}, or a scope such as ${allScopes[1]}, from oplink help scopes (repeatable)`,
				)
					.argParser(collect)
					.makeOptionMandatory(),
				new Option('--org <org>', 'organization that the token is limited to, by id or orgKey (default: all)'),
				new Option('--expires <time>', 'lifetime, such as 12h or 90d (default and maximum: that of the current token)'),
			],
			body: ({name, scope, org, expires}: NewOptions) => ({
				name,
				scopes: scope,
				...(org === undefined ? {} : {organization: org}),
				...(expires === undefined ? {} : {expires}),
			}),
			note: () => 'The token is shown once',
		}),
		tokens.list({
			summary: 'List operator tokens, newest first',
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
			summary: 'Revoke a token and all tokens created with it',
			about: 'NAME is a name or an id. Requests with a revoked token answer 401.',
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
