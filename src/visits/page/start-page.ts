import type {IncomingHttpHeaders} from 'node:http';
import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import {linkBlocked, unknownPath} from '../../platform/errors.ts';
import {prefersPage} from '../../platform/http/headers.ts';
import type {HostRole} from '../../platform/http/request-host.ts';
import {packageVersion} from '../../platform/package-root.ts';
import type {Services} from '../../services.ts';
import type {LinkAnswer} from '../visit/visit.ts';
import {bytesAsText, html, render} from './html.ts';
import {warningBefore} from './notice-page.ts';
import {pageHead, pageHeaders} from './page-head.ts';

/** The page at the address that a start prints. It says nothing about the installation (contract/hosts 10). */
const startPage = (): string =>
	render(html`<!doctype html>
<html lang="en">
${pageHead('Oplink', null)}
<body>
<main>
<div class="body">
<div class="intro">
<p class="sender"><span class="mark" aria-hidden="true">O</span>Version ${packageVersion()}</p>
<h1>Oplink</h1>
<p class="about">Deep links you host yourself. This server answers apps, backends and visitors of its links.</p>
</div>
<div class="offer">
<a class="button primary" href="/docs">API documentation</a>
</div>
</div>
</main>
</body>
</html>
`);

const headers = pageHeaders('en', {vary: 'Accept'});

/**
 * Answers `/`: a page on the API host, for callers that prefer pages; on custom domains a redirect to their `rootUrl`
 * (contract/hosts 8). If a list blocks that, it is 410; if a list warns of it, people read a warning first.
 * @throws 404, 410.
 */
export const answerRoot = (
	{linkPolicy}: Pick<Services, 'linkPolicy'>,
	{role, domain}: {role: HostRole; domain: VerifiedDomain | null},
	requestHeaders: IncomingHttpHeaders,
): LinkAnswer => {
	if ((role === 'api' || role === 'both') && prefersPage(requestHeaders)) {
		return {headers, body: bytesAsText(startPage())};
	}

	if (domain?.rootUrl == null || domain.organizationStatus !== 'ACTIVE') {
		throw unknownPath();
	}

	const verdict = linkPolicy.of(domain.rootUrl);
	if (verdict?.state === 'block') {
		throw linkBlocked();
	}

	if (verdict !== null) {
		return warningBefore(domain.rootUrl, domain, requestHeaders);
	}

	return {status: 302, headers: ['Location', domain.rootUrl, 'Cache-Control', 'no-store'], body: ''};
};
