import {apiKeyRoutes} from './api-keys/organization-routes.ts';
import {appConfigRoutes} from './app-config/organization-routes.ts';
import {auditRoutes} from './audit/organization-routes.ts';
import {billingEventRoutes} from './billing/admin-routes.ts';
import {opsBillingRoutes} from './billing/ops-routes.ts';
import {portalBillingRoutes} from './billing/portal-routes.ts';
import {gatewayWebhookRoutes} from './billing/webhook-routes.ts';
import {channelRoutes} from './channels/organization-routes.ts';
import {statsRoutes} from './clicks/admin-routes.ts';
import {clickStreamRoutes} from './clicks/click-stream-routes.ts';
import {portalStatsRoutes} from './clicks/portal-routes.ts';
import {devRoutes} from './dev/routes.ts';
import {deviceRoutes} from './devices/organization-routes.ts';
import {doctorRoutes} from './doctor/admin-routes.ts';
import {internalRoutes} from './domains/internal-routes.ts';
import {domainRoutes} from './domains/organization-routes.ts';
import {statusRoutes} from './health/admin-routes.ts';
import {healthRoutes} from './health/routes.ts';
import type {Route} from './http/route.ts';
import {identityEventRoutes} from './identity/admin-routes.ts';
import {identityWebhookRoutes} from './identity/webhook-routes.ts';
import {linkRoutes} from './links/routes.ts';
import {matchAttemptRoutes} from './match/organization-routes.ts';
import {matchRoutes} from './match/routes.ts';
import {metricsRoutes} from './metrics/routes.ts';
import {portalOnboardingRoutes} from './onboarding/portal-routes.ts';
import {documentRoutes} from './openapi/routes.ts';
import {organizationRoutes} from './organizations/organization-routes.ts';
import {privacyRoutes} from './privacy/admin-routes.ts';
import {associationRoutes} from './resolution/association-routes.ts';
import {resolutionRoutes} from './resolution/routes.ts';
import {eventRoutes} from './sdk/organization-routes.ts';
import {sdkRoutes} from './sdk/routes.ts';
import {portalTeamRoutes} from './team/portal-routes.ts';
import {templateRoutes} from './templates/organization-routes.ts';
import {usageRoutes} from './usage/organization-routes.ts';

/** Every route except the link paths (`resolutionRoutes`), grouped by surface (contract/hosts 1). */
export const surfaces: readonly Route[] = [
	...healthRoutes,
	...documentRoutes(() => routes),
	...metricsRoutes,
	...associationRoutes,
	...identityWebhookRoutes,
	...gatewayWebhookRoutes,
	...matchRoutes,
	...linkRoutes,
	...sdkRoutes,
	...organizationRoutes,
	...apiKeyRoutes,
	...appConfigRoutes,
	...domainRoutes,
	...internalRoutes,
	...templateRoutes,
	...channelRoutes,
	...statsRoutes,
	...clickStreamRoutes,
	...matchAttemptRoutes,
	...privacyRoutes,
	...identityEventRoutes,
	...billingEventRoutes,
	...statusRoutes,
	...doctorRoutes,
	...portalOnboardingRoutes,
	...portalTeamRoutes,
	...portalBillingRoutes,
	...portalStatsRoutes,
	...usageRoutes,
	...eventRoutes,
	...deviceRoutes,
	...auditRoutes,
	...opsBillingRoutes,
	...devRoutes,
];

/** The one table of routes: mounted by the server, walked by the API document and by tests. */
export const routes: readonly Route[] = [...surfaces, ...resolutionRoutes];
