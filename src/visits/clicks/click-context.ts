import {createClickWords} from './click-words.ts';

/** What a click says of the visitor in general. */
export const contexts = createClickWords('click_contexts', {
	platform: 'platform',
	os: 'os',
	osVersion: 'os_version',
	browser: 'browser',
	deviceModel: 'device_model',
	language: 'language',
	timezone: 'timezone',
	country: 'country',
	/** The kind of crawler; null for a person. */
	botClass: 'bot_class',
});

export type ClickContext = Parameters<typeof contexts.rowOf>[1];

/** What a click was made for: the link's channel, and the UTM values of the tap, else of the link. */
export const campaigns = createClickWords('click_campaigns', {
	channel: 'channel',
	utmSource: 'utm_source',
	utmMedium: 'utm_medium',
	utmCampaign: 'utm_campaign',
	utmContent: 'utm_content',
	utmTerm: 'utm_term',
});

/** Null: nothing is known. */
export type ClickCampaign = Parameters<typeof campaigns.rowOf>[1] | null;

/** Whether a context row belongs to people's clicks, which count, and not to a crawler's. */
export const isOfPeople = (row: string): boolean => row.endsWith('\t\\N');

/** A SELECT or an item of a FROM, and the values that it binds. */
export type Rows = {sql: string; bindings: Record<string, unknown>};

/** SQL: the columns of both tables, to be joined by `joinWords`. */
export const wordColumns = [contexts, campaigns]
	.flatMap(({table, columns}) => columns.map((column) => `${table}.${column}`))
	.join(', ');

/** SQL: joins clicks with their contexts and campaigns. */
export const joinWords = (clicks: string): string =>
	`LEFT JOIN click_contexts ON click_contexts.id = ${clicks}.context_id
	LEFT JOIN click_campaigns ON click_campaigns.id = ${clicks}.campaign_id`;

/** Clicks with their contexts and campaigns, for a FROM: all columns of the three tables. */
export const clicksInFull = `(SELECT clicks.*, ${wordColumns} FROM clicks ${joinWords('clicks')})`;
