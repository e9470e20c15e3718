/**
 * A dimension of reports: where its value comes from, its column of a click in full, and whether visitors can choose its
 * values, of which a day then keeps `valuesPerDay` one by one.
 */
type Dimension = {of: 'context' | 'campaign' | 'click' | 'match' | 'tags'; column: string; isCapped: boolean};

/**
 * Everything that reports count by (contract/reports 1), in the order of the contract. Statements, tables and schemas
 * follow this table.
 */
export const dimensions = {
	platform: {of: 'context', column: 'platform', isCapped: false},
	country: {of: 'context', column: 'country', isCapped: true},
	channel: {of: 'campaign', column: 'channel', isCapped: true},
	referrer: {of: 'click', column: 'referrer_host', isCapped: true},
	link: {of: 'click', column: 'link_id', isCapped: false},
	matchMethod: {of: 'match', column: 'method', isCapped: false},
	os: {of: 'context', column: 'os', isCapped: true},
	browser: {of: 'context', column: 'browser', isCapped: true},
	language: {of: 'context', column: 'language', isCapped: true},
	deviceModel: {of: 'context', column: 'device_model', isCapped: true},
	/** Counted from `link`, by the tags that links have now. */
	tag: {of: 'tags', column: 'tag', isCapped: false},
	utmSource: {of: 'campaign', column: 'utm_source', isCapped: true},
	utmMedium: {of: 'campaign', column: 'utm_medium', isCapped: true},
	utmCampaign: {of: 'campaign', column: 'utm_campaign', isCapped: true},
	utmContent: {of: 'campaign', column: 'utm_content', isCapped: true},
	utmTerm: {of: 'campaign', column: 'utm_term', isCapped: true},
	/** A host of ours: visits of others are refused. */
	host: {of: 'context', column: 'host', isCapped: false},
} as const satisfies Record<string, Dimension>;

export type DimensionName = keyof typeof dimensions;

export const dimensionNames = Object.keys(dimensions) as DimensionName[];

/** The breakdowns of a report that names none. */
export const usualDimensions: readonly DimensionName[] = [
	'platform',
	'country',
	'channel',
	'referrer',
	'link',
	'matchMethod',
];

const isOf =
	(...origins: ReadonlyArray<Dimension['of']>) =>
	(name: DimensionName): boolean =>
		origins.includes(dimensions[name].of);

/** The dimensions that the row of a click has a value of. */
export const clickDimensions = dimensionNames.filter(isOf('context', 'campaign', 'click'));

/** The dimensions that are stored; the others are counted from them. */
export const storedDimensions = dimensionNames.filter(isOf('context', 'campaign', 'click', 'match'));

/** The dimensions of a funnel: properties of a link, its click or a device. */
export const funnelDimensions = dimensionNames.filter(
	(name) => isOf('campaign')(name) || ['link', 'tag', 'platform', 'country'].includes(name),
);

export const cappedDimensions = dimensionNames.filter((name) => dimensions[name].isCapped);

/** Dimensions whose lists end with `other`, in funnels too: tags add up to no total, because a link may have several. */
export const foldedDimensions: readonly DimensionName[] = dimensionNames.filter((name) => name !== 'tag');

export const columnOf = (name: DimensionName): string => dimensions[name].column;

/** The columns of both tables that reports count. */
export const countedOfContext: readonly string[] = dimensionNames.filter(isOf('context')).map(columnOf);
export const countedOfCampaign: readonly string[] = dimensionNames.filter(isOf('campaign')).map(columnOf);

/** The columns of a click that reports count beside its link, in the order of tallies and of ClickHouse. */
export const countedColumns: readonly string[] = [...countedOfContext, ...countedOfCampaign, columnOf('referrer')];
