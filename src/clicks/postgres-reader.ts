import type {ClickReader} from './click-store.ts';
import {countDimensions} from './count-dimensions.ts';
import {uncounted} from './uncounted.ts';

/** Counts the rows of the table `clicks`. */
export const postgresReader: ClickReader = {
	inTurn: (work) => work(),
	counts: async (_, {scope}) => ({
		sql: uncounted(
			'clicks',
			'occurred_at',
			'occurred_at AS at, CAST(bot_class IS NULL AS int) AS clicks, CAST(bot_class IS NOT NULL AS int) AS crawler_views',
			scope,
		),
		bindings: {},
	}),
	dimensions: async (_, {scope}) => {
		const columns = 'platform, country, channel, referrer_host, link_id';
		const people = uncounted('clicks', 'occurred_at', columns, scope, 'bot_class IS NULL');
		return {sql: countDimensions(`(${people}) AS people`), bindings: {}};
	},
};
