import {copyText} from '../../../platform/db/copy.ts';
import {clickIdOfToken, encodeMatch, type MatchPart, type OpenMatch, timeOrderedId} from '../../matches/open-match.ts';
import {type ClickCampaign, type ClickContext, campaigns, contexts} from '../../visit/click-context.ts';

/** A visit of a link by a person or a crawler. A crawler's visit counts in no quota and no click figure. */
export type Click = {
	organizationId: string;
	linkId: string;
	referrerHost: string | null;
	/** One object for all clicks of visitors with equal headers; derived values are cached by it. */
	context: ClickContext;
	/** One object for all clicks of a link with equal values. */
	campaign: ClickCampaign;
	/** The data that an app's first open is matched by; null if the link is not deferred. */
	match: OpenMatch | null;
};

/** A click as the journal stores it. */
export type Entry = {
	id: string;
	organizationId: string;
	linkId: string;
	/** Such as 2026-03 (UTC). */
	month: string;
	/** A row of COPY for `clicks`, with its line end. */
	click: string;
	/** The id of the context, and its row of COPY for `click_contexts` without that id. */
	contextId: string;
	context: string;
	/** The id and the row of the campaign, for `click_campaigns`; '\\N' and '' if the click has none. */
	campaignId: string;
	campaign: string;
	/** A row of COPY for the open match, with its line end; '' if an app's first open cannot claim the click. */
	match: string;
	part: MatchPart;
};

export const clickColumns = [
	'id',
	'occurred_at',
	'organization_id',
	'link_id',
	'context_id',
	'campaign_id',
	'referrer_host',
] as const;

const writtenTimes = {at: Number.NaN, text: ''};

/** A time as text. Clicks of one millisecond share it. */
const timeText = (at: Date): string => {
	if (writtenTimes.at !== at.getTime()) {
		writtenTimes.at = at.getTime();
		writtenTimes.text = at.toISOString();
	}

	return writtenTimes.text;
};

const NO_CAMPAIGN = {row: '', id: '\\N'};
const NO_MATCH = {match: '', part: 'opened'} as const;

/** The rows of a click. A new match has the click's id, which its token encodes. */
export const encodeEntry = (click: Click, at: Date): Entry => {
	const time = timeText(at);
	const {organizationId, linkId, match} = click;
	const id = match === null ? timeOrderedId(at) : clickIdOfToken(match.token);
	const month = time.slice(0, 7);
	const {row: context, id: contextId} = contexts.identified(month, click.context);
	const {row: campaign, id: campaignId} =
		click.campaign === null ? NO_CAMPAIGN : campaigns.identified(month, click.campaign);
	const country = click.context.country;
	const opened =
		match === null ? NO_MATCH : encodeMatch(match, {id, organizationId, linkId, at, time, campaignId, country});
	return {
		id,
		organizationId,
		linkId,
		month,
		click: `${id}\t${time}\t${organizationId}\t${linkId}\t${contextId}\t${campaignId}\t${copyText(click.referrerHost)}\n`,
		contextId,
		context,
		campaignId,
		campaign,
		match: opened.match,
		part: opened.part,
	};
};

/**
 * Splits rows of COPY for `clicks` by the fixed lengths of ids and times: parsing them takes several times as long.
 * The values are texts of COPY.
 */
export function* cutRows(rows: string) {
	for (let from = 0; from < rows.length; ) {
		const [end, context] = [rows.indexOf('\n', from), rows.indexOf('\t', from + 136)];
		const campaign = rows.indexOf('\t', context + 1);
		yield {
			id: rows.slice(from, from + 36),
			time: rows.slice(from + 37, from + 61),
			organizationId: rows.slice(from + 62, from + 98),
			linkId: rows.slice(from + 99, from + 135),
			contextId: rows.slice(from + 136, context),
			campaignId: rows.slice(context + 1, campaign),
			referrerHost: rows.slice(campaign + 1, end),
			row: rows.slice(from, end + 1),
		};
		from = end + 1;
	}
}
