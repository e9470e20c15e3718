import {type Db, onlyRow} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {organizationNotActive} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import {findOwnOrganization, type ProviderIds} from '../auth/access-store.ts';
import {requireAccess} from '../auth/organization-access.ts';
import type {Session} from '../auth/session.ts';
import {type FetchDeps, fetchOnDemand} from '../identity/fetch-on-demand.ts';
import {type Organization, organizationJson} from '../organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../plans/entitlements.ts';

/** The signed-in person, and the actor of audit records. */
export type SignedIn = {session: Session; by: Caller};

type Steps = {planSelected: boolean; appConfigured: boolean; hasLinks: boolean};

/**
 * The organization of the onboarding: the session's active one, fetched from the provider if its events have not
 * arrived; without one, the one that the user is a member of here.
 * @throws 403.
 */
const organizationOf = async (services: FetchDeps, {session, by}: SignedIn): Promise<Organization | null> => {
	if (session.organizationId !== null) {
		const fetchMissing = (named: ProviderIds) => fetchOnDemand(services, {...named, by});
		return (await requireAccess(services, session, {orgId: null, fetchMissing})).organization;
	}

	const own = await findOwnOrganization(services.db, session.userId);
	if (own !== null && own.status !== 'ACTIVE') {
		throw organizationNotActive();
	}

	return own;
};

const nextStep = ({planSelected, appConfigured, hasLinks}: Steps) => {
	if (!planSelected) {
		return 'select-plan';
	}

	if (!appConfigured) {
		return 'configure-app';
	}

	return hasLinks ? 'done' : 'create-link';
};

const readSteps = async (db: Db, organizationId: string): Promise<Omit<Steps, 'planSelected'>> =>
	onlyRow(
		await run(
			db,
			sql`SELECT EXISTS (SELECT FROM app_configs WHERE organization_id = ${organizationId}) AS "appConfigured",
				EXISTS (SELECT FROM links WHERE organization_id = ${organizationId}) AS "hasLinks"`,
		),
	);

/** The progress of a person's onboarding (contract/portal 3). @throws 403: the frontend then asks again. */
export const readOnboardingState = async (services: FetchDeps & PlanDeps, signedIn: SignedIn) => {
	const organization = await organizationOf(services, signedIn);
	if (organization === null) {
		const none: Steps = {planSelected: false, appConfigured: false, hasLinks: false};
		return {organization, ...none, nextStep: 'create-organization'};
	}

	const steps: Steps = {
		planSelected: planOf(services, organization) !== null,
		...(await readSteps(services.db, organization.id)),
	};
	return {organization: organizationJson(organization), ...steps, nextStep: nextStep(steps)};
};
