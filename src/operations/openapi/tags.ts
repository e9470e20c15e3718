/** Groups of operations, in order. A path belongs to the first group with a matching prefix. */
const groups: ReadonlyArray<{name: string; description: string; path: RegExp}> = [
	{name: 'Links', path: /^\/links\b/, description: 'Links, for machines: a SERVER key.'},
	{name: 'Match', path: /^\/match$/, description: 'Deferred deep linking: which click a first open came from.'},
	{name: 'SDK', path: /^\/sdk\//, description: 'Reports of apps on their devices: a CLIENT key.'},
	{
		name: 'Resolution',
		path: /^\/(?::|\.well-known)/,
		description: 'Short links and association files, on the link domain and on custom domains.',
	},
	{name: 'Portal: onboarding', path: /^\/portal\/onboarding\//, description: 'From signing up to the first link.'},
	{
		name: 'Portal: organization',
		path: /^\/portal\/(?:organization|usage|audit-log)$/,
		description: 'The organization.',
	},
	{name: 'Portal: team', path: /^\/portal\/team\b/, description: 'Members and invitations.'},
	{name: 'Portal: billing', path: /^\/portal\/billing\//, description: 'Plans, subscriptions, invoices.'},
	{name: 'Portal: keys and app', path: /^\/portal\/(?:api-keys|app-config)\b/, description: 'API keys and apps.'},
	{name: 'Portal: domains', path: /^\/portal\/domains\b/, description: 'Custom domains.'},
	{name: 'Portal: links', path: /^\/portal\/(?:links|templates|channels)\b/, description: 'Links, for people.'},
	{
		name: 'Portal: reports',
		path: /^\/portal\/(?:dashboard|matches|events|devices)\b/,
		description: 'Clicks, matches, events and devices.',
	},
	{
		name: 'Portal: ops',
		path: /^\/(?:portal\/admin|dev)\//,
		description: 'For sessions of the ops organization.',
	},
	{
		name: 'Admin: links',
		path: /^\/admin\/(?:organizations\/:orgId\/)?(?:links|templates|channels)\b/,
		description: 'Links of any organization.',
	},
	{
		name: 'Admin: reports',
		path: /^\/admin\/(?:clicks|organizations\/:orgId\/(?:stats|matches|audit-log|devices|events|usage|users))\b/,
		description: 'Reports and audit.',
	},
	{
		name: 'Admin: organizations',
		path: /^\/admin\/organizations\b/,
		description: 'Organizations, their keys, apps and domains.',
	},
	{name: 'Admin: service', path: /^\/admin\//, description: 'The service and its ledger of payments.'},
	{name: 'Webhooks', path: /^\/webhooks?\//, description: 'Events from the identity provider and the gateways.'},
	{name: 'Operations', path: /^\//, description: 'Health, metrics, and this document.'},
];

/** The tags of the document, in order. */
export const tags = groups.map(({name, description}) => ({name, description}));

/** The tag of a route's path. */
export const tagOf = (path: string): string => groups.find((group) => group.path.test(path))?.name ?? '';
