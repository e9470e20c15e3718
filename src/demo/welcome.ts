import type {Services} from '../services.ts';

/**
 * Says on standard output where the service is and, with the embedded database, shows the demo organization: a short
 * link that works, its QR code, and the lines that create and resolve one.
 */
export const welcome = async (services: Services, withDemo: boolean): Promise<void> => {
	const {publicUrl, linkDomain, linkScheme} = services.addresses;
	const print = (text: string) => process.stdout.write(`${text}\n`);
	print(`\nOplink is ready at ${publicUrl}`);
	if (!withDemo) {
		return;
	}

	// Makes links and keys, which a server on a database of its own has no need of to start.
	const {ensureDemo} = await import('./demo-organization.ts');
	const demo = await ensureDemo(services);
	if (demo === null) {
		return;
	}

	const url = `${linkScheme}://${linkDomain}/${demo.orgKey}/${demo.shortCode}`;
	print(`Short link of the demo organization ${demo.orgKey}: ${url}`);
	if (!demo.isNew) {
		print(`Its API keys: npx oplink keys show ${demo.orgKey}\n`);
		return;
	}

	// On a terminal in colours of its own, because an inverted code is one that some scanners refuse.
	const {default: QRCode} = await import('qrcode');
	const code = process.stdout.isTTY
		? await QRCode.toString(url, {type: 'terminal', small: true, errorCorrectionLevel: 'L'})
		: await QRCode.toString(url, {type: 'utf8', errorCorrectionLevel: 'L', margin: 2});
	print(`\n${code}`);
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
