import {type Reply, type RequestFacts, reply} from '../../../accounts/route.ts';
import {findOwnDomain, type HostDeps} from '../../../links/domains/locate.ts';
import {unknownPath} from '../../../platform/errors.ts';
import {headersOf} from '../../../platform/http/exchange.ts';
import {prefersPage} from '../../../platform/http/prefers-page.ts';
import {packageVersion} from '../../../platform/package-root.ts';
import {html, render} from './html.ts';
import {pageHead, redirectPageHeaders} from './redirect-page.ts';

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

/** The `rootUrl` of a custom domain (contract/hosts 8). @throws 404 without one. */
const openRoot = async (services: HostDeps, hostname: string | null): Promise<Reply> => {
	const domain = await findOwnDomain(services, hostname);
	if (domain?.rootUrl == null || domain.organizationStatus !== 'ACTIVE') {
		throw unknownPath();
	}

	return reply({headers: {Location: domain.rootUrl, 'Cache-Control': 'no-store'}});
};

/** Answers `/`: a page on the API host, for callers who prefer one; a redirect on custom domains. @throws 404. */
export const answerRoot = async (services: HostDeps, {hostname, headers}: RequestFacts): Promise<Reply> => {
	const role = services.hostRoles.roleOf(hostname);
	return (role === 'api' || role === 'both') && prefersPage(headers)
		? reply({status: 200, headers: {...headersOf(redirectPageHeaders('en')), Vary: 'Accept'}, body: startPage()})
		: openRoot(services, hostname);
};
