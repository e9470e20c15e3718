import {Option} from 'commander';
import {prefixOf} from '../../accounts/api-keys/api-key.ts';
import type {allKeyCards} from '../../accounts/api-keys/rotation.ts';
import type {OperatorToken} from '../../accounts/tokens/token-store.ts';
import {allScopes, presetNames} from '../../platform/config/operator-scopes.ts';
import {isUuid} from '../../platform/text.ts';
import {notFoundError, usageError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {collect} from '../link-fields.ts';
import {timeText} from '../match-trace.ts';
import {requireConsent} from '../prompts.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {organizationApi} from '../server/link-surface.ts';
import {allAt} from '../server/list-pages.ts';
import {keyValues} from '../terminal/output.ts';

export type KeyCards = Json<Awaited<ReturnType<typeof allKeyCards>>>;
type KeyCard = KeyCards['earlier'][number];

/** Keys that are older than the storage of keys have no display key until they are regenerated (contract/api-keys 5). */
const NOT_STORED = 'not stored; regenerate it to see the full key';
const UNREADABLE =
	'encrypted with another OPLINK_KEY_SECRET; the key works, but showing it needs that secret or a regeneration';

const cardFields = (card: KeyCard): Array<[string, unknown]> => [
	['tier', card.tier],
	['key', card.displayKey ?? `${card.prefix}… (${card.displayKeyFault ? UNREADABLE : NOT_STORED})`],
	['createdAt', card.createdAt],
	['expiresAt', card.expiresAt ?? 'never'],
	['lastUsedAt', card.lastUsedAt ?? 'never'],
];

/** A paragraph for each key. */
const cardsText = ({sdkKey, serverKey, earlier}: KeyCards): string =>
	[sdkKey, serverKey, ...earlier].flatMap((card) => (card ? keyValues(cardFields(card)) : [])).join('\n\n');

/** Whether a text names the key: the whole key, its first characters, or its id. */
const isNamed =
	(named: string) =>
	({id, prefix}: KeyCard) =>
		id === named || named.startsWith(prefix);

const consequences: Record<string, string> = {
	CLIENT: 'The old one works for another 24 hours; keys revoke ends it at once.',
	SERVER: 'The old one stops working at once.',
};

export const keyCommands: CommandGroup = {
	name: 'keys',
	summary: 'Manage API keys',
	commands: [
		resource<KeyCards>({path: 'api-keys'}).request({
			usage: 'show [org]',
			route: 'GET',
			summary: 'Show the API keys in full',
			about: 'Earlier keys that are still accepted are included.',
			examples: ['show', 'show --org Ab12 --json | jq -r .serverKey.displayKey'],
			text: cardsText,
		}),

		command({
			usage: 'revoke [org] <key>',
			summary: 'Revoke a key at once',
			about: 'KEY is the id of the key, or its first 16 characters.',
			examples: ['revoke opl_sdk_Qm3xY7aP', 'revoke opl_sdk_Qm3xY7aP --org Ab12 --yes'],
			options: [yesOption()],
			run: async (context, named: string) => {
				const find = async () => {
					const {client, org, path} = await organizationApi(context, isUuid(named) ? named : prefixOf(named));
					const {sdkKey, serverKey, earlier} = await client.get<KeyCards>(`${path}/api-keys`);
					const card = [sdkKey, serverKey, ...earlier].find((one) => one !== null && isNamed(named)(one));
					if (!card) {
						throw notFoundError('No accepted key begins like that', 'oplink keys show lists them');
					}

					return {client, org, path, card, isEarlier: earlier.includes(card)};
				};
				await requireConsent(context, async () => {
					const {org, card, isEarlier} = await find();
					const current = isEarlier ? '' : ' It is the current one: whatever uses it stops, and a new one is made.';
					return `Revoke the ${card.tier} key ${card.prefix}… of ${org}?${current}`;
				});
				const {client, path, card} = await find();
				const revoked = await client.delete(`${path}/api-keys/${card.id}`);
				await context.show.answer(revoked, () => `Revoked ${card.prefix}…; nobody can use it any more`);
			},
		}),

		command({
			usage: 'regenerate [org] <tier>',
			summary: 'Replace a key',
			about: 'TIER is CLIENT (the old key works for 24 more hours) or SERVER (the old key stops at once).',
			examples: ['regenerate SERVER --org Ab12 --yes'],
			options: [yesOption()],
			run: async (context, name: string) => {
				const tier = name.toUpperCase();
				const consequence = consequences[tier];
				if (consequence === undefined) {
					throw usageError(`'${name}' is not a valid tier`, 'Tiers are CLIENT and SERVER');
				}

				await requireConsent(context, async () => {
					const {org} = await organizationApi(context);
					return `Regenerate the ${tier} key of ${org}? ${consequence}`;
				});
				const {client, path} = await organizationApi(context);
				const regenerated = await client.post<KeyCard & {rawKey: string}>(`${path}/api-keys/${tier}/regenerate`);
				await context.show.fields(regenerated, ({rawKey, ...card}) => cardFields({...card, displayKey: rawKey}));
			},
		}),
	],
};

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
			body: ({name, scope, org, expires}: NewOptions) => ({name, scopes: scope, organization: org, expires}),
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
				await requireConsent(context, async () => `Revoke the token ${named}, and all tokens created with it?`);
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
