import {auditRoutes, organizationRoutes} from './accounts/administration/organization-routes.ts';
import {apiKeyRoutes} from './accounts/api-keys/organization-routes.ts';
import type {Route} from './accounts/auth/route.ts';
import {gatewayEventAdminRoutes, gatewayEventRoutes} from './accounts/billing/gateway-event-routes.ts';
import {opsBillingRoutes, portalBillingRoutes} from './accounts/billing/portal-routes.ts';
import {providerEventAdminRoutes, providerEventRoutes} from './accounts/identity/provider-event-routes.ts';
import {portalOnboardingRoutes} from './accounts/onboarding/portal-routes.ts';
import {portalTeamRoutes} from './accounts/team/portal-routes.ts';
import {tokenRoutes} from './accounts/tokens/admin-routes.ts';
import {appConfigRoutes} from './links/app-config/organization-routes.ts';
import {channelRoutes} from './links/channels/organization-routes.ts';
import {internalRoutes} from './links/domains/internal-routes.ts';
import {domainRoutes} from './links/domains/organization-routes.ts';
import {linkRoutes} from './links/links/routes.ts';
import {templateRoutes} from './links/templates/organization-routes.ts';
import {usageRoutes} from './links/usage/organization-routes.ts';
import {appStatusRoutes} from './operations/app-status/organization-routes.ts';
import {devRoutes} from './operations/dev/routes.ts';
import {doctorRoutes} from './operations/doctor/admin-routes.ts';
import {statusRoutes} from './operations/health/admin-routes.ts';
import {healthRoutes} from './operations/health/routes.ts';
import {metricsRoutes} from './operations/metrics/routes.ts';
import {documentRoutes} from './operations/openapi/routes.ts';
import type {DeclaredRoute} from './platform/http/route.ts';
import {abuseReportRoutes} from './visits/abuse/admin-routes.ts';
import {reportRoutes} from './visits/abuse/report-routes.ts';
import {securityTextRoutes} from './visits/abuse/security-txt.ts';
import {associationRoutes} from './visits/association/association-routes.ts';
import {deviceRoutes} from './visits/devices/organization-routes.ts';
import {exportRoutes} from './visits/export/organization-routes.ts';
import {matchAttemptRoutes} from './visits/matches/organization-routes.ts';
import {matchRoutes} from './visits/matches/routes.ts';
import {privacyRoutes} from './visits/privacy/admin-routes.ts';
import {portalStatsRoutes, statsRoutes} from './visits/reports/stats/organization-routes.ts';
import {clickStreamRoutes} from './visits/reports/stream/click-stream-routes.ts';
import {declaredLinkRoutes} from './visits/resolution/declared.ts';
import {eventRoutes, sdkRoutes} from './visits/sdk/routes.ts';
import {simulationRoutes} from './visits/simulation/admin-routes.ts';
import {webhookEndpointRoutes} from './visits/webhooks/organization-routes.ts';

/** Every route of `app.ts`, grouped by surface (contract/hosts 1). */
export const surfaces: readonly Route[] = [
	...healthRoutes,
	...documentRoutes(() => routes),
	...metricsRoutes,
	...associationRoutes,
	...securityTextRoutes,
	...reportRoutes,
	...providerEventRoutes,
	...gatewayEventRoutes,
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
	...simulationRoutes,
	...privacyRoutes,
	...providerEventAdminRoutes,
	...gatewayEventAdminRoutes,
	...statusRoutes,
	...appStatusRoutes,
	...doctorRoutes,
	...tokenRoutes,
	...abuseReportRoutes,
	...portalOnboardingRoutes,
	...portalTeamRoutes,
	...portalBillingRoutes,
	...portalStatsRoutes,
	...usageRoutes,
	...eventRoutes,
	...deviceRoutes,
	...exportRoutes,
	...webhookEndpointRoutes,
	...auditRoutes,
	...opsBillingRoutes,
	...devRoutes,
];

/** The one table of routes, those of links included (`visits/resolution/door.ts`): the API document and tests walk it. */
export const routes: readonly DeclaredRoute[] = [...surfaces, ...declaredLinkRoutes];
