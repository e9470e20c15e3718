import {networkInterfaces} from 'node:os';
import {isLoopbackName} from '../../platform/http/request-host.ts';
import type {Services} from '../../services.ts';

/** An address of this machine that a phone in the same network may reach. */
const lanAddress = (): string =>
	Object.values(networkInterfaces())
		.flatMap((addresses) => addresses ?? [])
		.find(({family, internal}) => family === 'IPv4' && !internal)?.address ?? 'ADDRESS';

/** How to start the server for phones, if the link's address is one of this machine alone. */
const reachableStart = (url: URL): string => {
	const host = `${lanAddress()}${url.port === '' ? '' : `:${url.port}`}`;
	return `This link opens on this machine alone. For a phone in the same network start with:
  HOST=0.0.0.0 PUBLIC_URL=http://${host} LINK_DOMAIN=${host} LINK_SCHEME=http npm start
`;
};

/**
 * Prints the service's address and, with the embedded database, the demo organization: a working short link, its QR
 * code, and the commands that create and resolve one.
 */
export const welcome = async (services: Services, withDemo: boolean): Promise<void> => {
	const {publicUrl, linkDomain, linkScheme} = services.addresses;
	const print = (text: string) => process.stdout.write(`${text}\n`);
	print(`\nOplink is ready at ${publicUrl}`);
	if (!withDemo) {
		return;
	}

	// Creates links and keys; a server with its own database does not need it to start.
	const {ensureDemo} = await import('./demo-organization.ts');
	const demo = await ensureDemo(services);
	if (demo === null) {
		return;
	}

	const url = `${linkScheme}://${linkDomain}/${demo.orgKey}/${demo.shortCode}`;
	print(`Short link of the demo organization ${demo.orgKey}: ${url}`);
	const isHere = isLoopbackName(new URL(url).hostname);
	if (demo.isNew || !isHere) {
		// In fixed colours on a terminal, because some scanners reject inverted codes.
		const {default: QRCode} = await import('qrcode');
		const code = process.stdout.isTTY
			? await QRCode.toString(url, {type: 'terminal', small: true, errorCorrectionLevel: 'L'})
			: await QRCode.toString(url, {type: 'utf8', errorCorrectionLevel: 'L', margin: 2});
		print(`\n${code}`);
	}

	if (!demo.isNew) {
		print(`Its API keys: npx oplink keys show --org ${demo.orgKey}\n`);
		return;
	}

	if (isHere) {
		print(reachableStart(new URL(url)));
	}

	print(`The demo app is in no store: its page's store buttons lead nowhere. Your own app:
  npx oplink app-config example > app.json
  npx oplink app-config set --org ${demo.orgKey} --file app.json
`);
	print(`SERVER key, for your backend and CI: ${demo.serverKey}`);
	print(`CLIENT key, for your app:            ${demo.clientKey}

Create a link:
  curl -X POST ${publicUrl}/links \\
    -H 'Authorization: Bearer ${demo.serverKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"path": "/product/42", "title": "Red shoes"}'

Resolve one, as an app does:
  curl ${url}/data

See everything from here: npx oplink status
`);
};
