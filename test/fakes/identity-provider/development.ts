import {type AutomaticDelivery, createAutomaticDelivery} from './automatic-delivery.ts';
import {developmentRoutes} from './development-routes.ts';
import {opsId, seedDevelopment} from './development-seed.ts';
import {loadDirectory, resendAll, saveDirectory} from './development-state.ts';
import {type IdentityProvider, startIdentityProvider} from './identity-provider.ts';

/** Equal at every start, so that a service need not be restarted. Not real secrets. */
const secretKey = 'sk_test_oplink_development_identity_provider';
const webhookSecret = `whsec_${Buffer.from('oplink development webhooks').toString('base64')}`;

/**
 * The provider for people: seeded, with paths for curl, and with webhooks delivered at once.
 * @param webhookUrl the service's receiver. @param stateFile the file of its state. @param say writes a log line.
 */
export const startDevelopment = async ({
	port,
	webhookUrl,
	stateFile,
	say,
}: {
	port: number;
	webhookUrl: string;
	stateFile: string;
	say(line: string): void;
}): Promise<{idp: IdentityProvider; delivery: AutomaticDelivery; stop(): Promise<void>}> => {
	const idp = await startIdentityProvider({
		port,
		secretKey,
		webhookSecret,
		opsOrganizationId: opsId,
		settings: {maxAllowedMemberships: 0},
	});
	const delivery = createAutomaticDelivery({send: idp.send, destination: webhookUrl, say});
	const isKept = loadDirectory(stateFile, idp.directory);
	idp.onEvent((event) => {
		saveDirectory(stateFile, idp.directory);
		delivery.push(event);
	});
	if (isKept) {
		resendAll(idp.directory);
	} else {
		seedDevelopment(idp);
	}

	idp.serve(developmentRoutes(idp, delivery, webhookUrl));
	return {
		idp,
		delivery,
		stop: async () => {
			delivery.stop();
			await idp.stop();
		},
	};
};
