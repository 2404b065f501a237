#!/bin/sh
# Installs Debian's chromium for the one test that opens the report, where that is possible.
# Never fails: without a browser the test is skipped with a reason.
set -u

for browser in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$browser" >/dev/null 2>&1; then
        exit 0
    fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Debian's chromium for the test of the report ..."
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium; } >/dev/null 2>&1
fi

if ! command -v chromium >/dev/null 2>&1; then
    echo "No chromium here (and it cannot be installed): the test of the report is skipped."
fi
exit 0
