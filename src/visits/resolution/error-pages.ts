import {ORG_KEY, reservedSegments} from '../../accounts/organizations/org-key.ts';
import {servedOnEveryHost} from '../../links/domains/path-prefixes.ts';
import {HttpError} from '../../platform/errors.ts';
import {type Exchange, headersOf} from '../../platform/http/exchange.ts';
import {prefersPage} from '../../platform/http/prefers-page.ts';
import type {Services} from '../../services.ts';
import {admitUnknown, domainOfHost, type RequestHostDeps} from './admit-host.ts';
import type {Sender} from './error-page-senders.ts';
import {noticePage} from './page/notice-page.ts';

type ErrorPageDeps = RequestHostDeps & Pick<Services, 'errorPages'>;

/** The orgKey of the organization whose path or domain was requested; null if it is nobody's. */
const orgKeyOf = async (services: ErrorPageDeps, ctx: Exchange): Promise<string | null> => {
	const {path, state} = ctx;
	const [, first = ''] = path.split('/');
	const role = services.hostRoles.roleOf(state.hostname);
	if (role === 'link' || role === 'both') {
		return ORG_KEY.test(first) && !reservedSegments.has(first) ? first : null;
	}

	return servedOnEveryHost.has(first) ? null : ((await domainOfHost(services, ctx))?.orgKey ?? null);
};

const senderOf = async (services: ErrorPageDeps, ctx: Exchange): Promise<Sender | null> => {
	const orgKey = await orgKeyOf(services, ctx);
	// A request of a known route has been counted already.
	const before = async () => (ctx.state.route === undefined ? admitUnknown(services, ctx) : undefined);
	return orgKey === null ? null : services.errorPages.senderOf(orgKey, before);
};

/**
 * Answers a refusal of 404 or 410 by a page with the same status, where the organization wants that and the caller
 * prefers it (contract/resolution 25). @returns false if the refusal is answered as JSON.
 */
export const answeredByPage = async (services: ErrorPageDeps, ctx: Exchange, refusal: unknown): Promise<boolean> => {
	const isAbsent = refusal instanceof HttpError && (refusal.status === 404 || refusal.status === 410);
	if (!isAbsent || !['GET', 'HEAD'].includes(ctx.method) || !prefersPage(ctx.req.headers)) {
		return false;
	}

	// Over the limit, or without the database, the refusal stands as JSON.
	const sender = await senderOf(services, ctx).catch(() => null);
	if (sender === null) {
		return false;
	}

	const {headers, body} = noticePage({
		notice: refusal.status === 410 ? 'gone' : 'notFound',
		organizationName: sender.organizationName,
		acceptLanguage: ctx.req.headers['accept-language'],
		href: sender.fallbackUrl,
		movesOn: false,
	});
	ctx.status = refusal.status;
	ctx.body = Buffer.from(body, 'latin1');
	ctx.status = refusal.status;
	ctx.set({...headersOf(headers), Vary: 'Accept, Accept-Language', 'X-Error-Code': refusal.code});
	return true;
};
