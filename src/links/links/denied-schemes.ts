/** Schemes that no app may claim, grouped by the harm of such a link. A `*` stands for any rest. */
const denied: Record<string, string> = {
	'runs code in the page, in the browser or in a help viewer':
		'javascript data vbscript livescript mocha wyciwyg applescript help x-help-*',
	'reads local data of the phone or the browser':
		'file filesystem blob content resource jar android_asset android_res android-app android.resource assets-library',
	'belongs to the browser itself':
		'about view-source devtools chrome chrome-* moz-* safari-* opera edge brave vivaldi microsoft-edge*',
	'belongs to the web, where a path would be a site':
		'http https ws wss ftp ftps tftp gopher dav davs webdav webdavs x-safari-*',
	'names an app and its fallback by fields of its own':
		'intent googlechrome googlechromes firefox firefox-focus opera-* touch-http touch-https x-web-search',
	'installs an app or a profile past the store':
		'itms* macappstore* market marketplace-kit apk altstore sidestore apple-magnifier cydia sileo zbra appleconfigurator samsungapps appmarket mimarket ms-appinstaller ms-windows-store',
	'opens settings or system tools, some of which run commands':
		'prefs app-prefs app-settings x-apple* com.apple.* com-apple-* diags diagnostics x-man-page disk disks ms-settings* ms-msdt ms-officecmd ms-cxh* ms-availablenetworks ms-device-enrollment ms-quick-assist ms-contact-support ms-appdata ms-appx ms-appx-web ms-search search-ms search shell res hcp mk ms-its mhtml telnet rlogin tn3270 ssh sftp smb cifs afp nfs rdp ms-rd vnc ldap ldaps ldapi jnlp jnlps',
	'opens documents in an office program, from anywhere':
		'ms-word ms-excel ms-powerpoint ms-access ms-visio ms-project ms-publisher ms-infopath ms-spd onenote onenote-cmd',
	'calls, writes or pays on the phone of the visitor':
		'tel telprompt callto wtai sip sips h323 facetime facetime-* sms sms-private smsto mms mmsto rcs mailto im imto xmpp webcal webcals bitcoin bitcoincash ethereum litecoin dogecoin monero lightning lnurl* solana wc upi payto shortcuts',
	'signs in, or adds a second factor, a credential or a SIM':
		'fido otpauth otpauth-* apple-otpauth openid openid-* openid4vp haip mdoc lpa',
};

/** Of all denied schemes in lower case. */
export const deniedSchemes = `^(?:${Object.values(denied)
	.flatMap((schemes) => schemes.split(' '))
	.map((scheme) => scheme.replaceAll('.', '\\.').replace('*', '.*'))
	.join('|')})$`;

const pattern = new RegExp(deniedSchemes, 'i');

export const isDeniedScheme = (scheme: string): boolean => pattern.test(scheme);
