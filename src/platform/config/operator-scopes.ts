/** The areas of operator routes (contract/api-keys 10). */
export const areas = [
	'links',
	'apps',
	'domains',
	'templates',
	'channels',
	'keys',
	'stats',
	'matches',
	'export',
	'webhooks',
	'privacy',
	'billing',
	'orgs',
	'audit',
	'system',
] as const;

/** Decisions on organizations, which are the operator's alone: never of a credential that is bound to one. */
export const MODERATION = 'moderation';

export type Area = (typeof areas)[number];
export type Scope = `${Area}:${'read' | 'write'}` | typeof MODERATION;

export const allScopes: readonly Scope[] = [
	...areas.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]),
	MODERATION,
];

const reads = (...of: Area[]): Scope[] => of.map((area): Scope => `${area}:read`);
const writes = (...of: Area[]): Scope[] => of.map((area): Scope => `${area}:write`);

const VIEWER = reads('links', 'apps', 'domains', 'templates', 'channels', 'stats', 'matches', 'orgs', 'audit');

/** Sets of scopes with a name. A viewer sees neither keys nor data of persons. */
export const presets: Readonly<Record<'viewer' | 'editor' | 'support' | 'admin', readonly Scope[]>> = {
	viewer: VIEWER,
	editor: [...VIEWER, ...writes('links', 'apps', 'domains', 'templates', 'channels')],
	support: [...VIEWER, ...reads('webhooks', 'billing', 'system'), ...writes('privacy')],
	admin: [...writes(...areas), MODERATION],
};

type Preset = keyof typeof presets;
export const presetNames = Object.keys(presets) as Preset[];

/**
 * The scopes of names, each once. @param names scopes and presets. @param isBound to one organization, for
 * which `admin` does not moderate.
 */
export const expandScopes = (names: readonly string[], isBound: boolean): Scope[] =>
	[...new Set(names.flatMap((name) => presets[name as Preset] ?? [name as Scope]))].filter(
		(scope) => !isBound || scope !== MODERATION,
	);

/** Whether scopes include a wanted one: write includes read. */
export const includesScope = (scopes: readonly string[], wanted: Scope): boolean =>
	scopes.includes(wanted) || scopes.includes(wanted.replace(/:read$/, ':write'));

/** The permissions of an operator's credential. */
export type OperatorGrant = {
	/** Null: all. */
	scopes: readonly Scope[] | null;
	/** The only organization that it reaches; null: all. */
	organization: {id: string; orgKey: string} | null;
	/** Null: never. */
	expiresAt: Date | null;
	/** Null for other credentials, such as ADMIN_TOKEN. */
	tokenId: string | null;
};

export const everything: OperatorGrant = {scopes: null, organization: null, expiresAt: null, tokenId: null};
