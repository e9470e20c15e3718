import {usageError} from '../cli-errors.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {organizationPath} from '../server/link-surface.ts';
import {requireConsent} from '../terminal/require-consent.ts';

type KeyCard = {
	id: string;
	tier: string;
	prefix: string;
	displayKey: string | null;
	displayKeyFault?: 'OTHER_SECRET';
	createdAt: string;
	expiresAt: string | null;
	lastUsedAt: string | null;
};
type KeyCards = {sdkKey: KeyCard | null; serverKey: KeyCard | null; locked: boolean};

/** Keys created before they were stored have none until they are regenerated (contract/api-keys 5). */
const NOT_KEPT = 'not stored; regenerate it to see the full key';
const UNREADABLE =
	'encrypted with another OPLINK_KEY_SECRET; the key works, but showing it needs that secret or a regeneration';

const cardFields = ({
	tier,
	prefix,
	displayKey,
	displayKeyFault,
	createdAt,
	expiresAt,
	lastUsedAt,
}: KeyCard): Array<[string, unknown]> => [
	['tier', tier],
	['key', displayKey ?? `${prefix}… (${displayKeyFault ? UNREADABLE : NOT_KEPT})`],
	['createdAt', createdAt],
	['expiresAt', expiresAt ?? 'never'],
	['lastUsedAt', lastUsedAt ?? 'never'],
];

const cardsFields = ({sdkKey, serverKey}: KeyCards): Array<[string, unknown]> =>
	[sdkKey, serverKey].flatMap((card) => (card ? cardFields(card) : []));

const consequences: Record<string, string> = {
	CLIENT: 'The old one works for another 24 hours.',
	SERVER: 'The old one stops working at once.',
};

export const keyCommands: CommandGroup = {
	name: 'keys',
	summary: "Manage an organization's API keys",
	commands: [
		command({
			usage: 'show <org>',
			summary: 'Show both keys of an organization in full',
			examples: ['show Ab12', 'show Ab12 --json | jq -r .serverKey.displayKey'],
			run: async ({connection, show}, org: string) =>
				show.fields(await connection.admin().get<KeyCards>(`${organizationPath(org)}/api-keys`), cardsFields),
		}),

		command({
			usage: 'regenerate <org> <tier>',
			summary: 'Replace a key: CLIENT (the old key works for 24 more hours) or SERVER (the old key stops at once)',
			examples: ['regenerate Ab12 SERVER --yes'],
			options: [yesOption()],
			run: async ({io, connection, options, show}: Context<{yes?: boolean}>, org: string, name: string) => {
				const tier = name.toUpperCase();
				const consequence = consequences[tier];
				if (consequence === undefined) {
					throw usageError(`'${name}' is not a valid tier`, 'Tiers are CLIENT and SERVER');
				}

				const client = connection.admin();
				await requireConsent(io, options.yes, `Regenerate the ${tier} key of ${org}? ${consequence}`);
				const path = `${organizationPath(org)}/api-keys/${tier}/regenerate`;
				await show.fields(await client.post<KeyCard & {rawKey: string}>(path), ({rawKey, ...card}) =>
					cardFields({...card, displayKey: rawKey}),
				);
			},
		}),
	],
};
