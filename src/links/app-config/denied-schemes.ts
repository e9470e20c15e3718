/** Schemes that no app may claim, grouped by the harm of such a link. */
const denied: Record<string, string> = {
	'runs code in the page or in the browser': 'javascript data vbscript livescript mocha wyciwyg',
	'reads local data of the phone or the browser': 'file filesystem blob content resource jar android_asset android-app',
	'belongs to the browser itself':
		'about view-source chrome chrome-extension moz-extension safari-extension safari-web-extension opera edge brave microsoft-edge',
	'belongs to the web, where a path would be a site': 'http https ws wss ftp ftps gopher',
	'names an app and its fallback by fields of its own': 'intent googlechrome googlechromes firefox x-web-search',
	'installs an app or a profile past the store':
		'itms itmss itms-services itms-apps itms-appss itms-beta market apk ms-appinstaller ms-windows-store',
	'opens settings or system tools, some of which run commands':
		'prefs app-prefs app-settings x-apple.systempreferences ms-settings ms-msdt ms-officecmd ms-cxh ms-availablenetworks search-ms search shell res hcp mk ms-its mhtml telnet ssh sftp smb afp nfs rdp vnc ldap ldaps jnlp jnlps',
	'opens documents in an office program, from anywhere':
		'ms-word ms-excel ms-powerpoint ms-access ms-visio ms-project ms-publisher ms-infopath ms-spd onenote',
	'calls, writes or pays on the phone of the person who taps':
		'tel telprompt callto sip sips facetime facetime-audio sms smsto mms mmsto mailto im imto bitcoin ethereum shortcuts',
};

export const deniedSchemes: readonly string[] = Object.values(denied).flatMap((schemes) => schemes.split(' '));
