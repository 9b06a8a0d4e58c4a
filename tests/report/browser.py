"""A headless Chromium, driven through ChromeDriver by the WebDriver protocol (W3C), as far as the tests need it."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def missing():
    """Why there is no browser here; None if there is one."""
    for program, package in [("chromium", "chromium"), ("chromedriver", "chromium-driver")]:
        if not shutil.which(program):
            return f"there is no {program} here (Debian package {package})"
    return None


class Browser:
    """with Browser(width, height) as b: b.open(file) ..."""

    def __init__(self, width=1280, height=900, dark=False):
        self.size, self.dark = (width, height), dark

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-browser-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": self.folder.name})
        try:
            for line in self.driver.stdout:
                if "on port" in line and "success" in line:
                    self.root = "http://127.0.0.1:" + line.rstrip().rstrip(".").split()[-1]
                    break
            options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                       "--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars", "--force-device-scale-factor=1",
                       f"--window-size={self.size[0]},{self.size[1]}", "--user-data-dir=" + self.folder.name]
            if self.dark:
                options.append("--blink-settings=preferredColorScheme=0")
            wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": {"args": options}, "goog:loggingPrefs": {"browser": "ALL"}}}}
            self.session = "/session/" + self.call("POST", "/session", wanted)["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if hasattr(self, "session"):
            try:
                self.call("DELETE", self.session)
            except OSError:
                pass
        self.driver.terminate()
        self.driver.wait(timeout=30)
        self.driver.stdout.close()
        self.folder.cleanup()

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.root + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{path}: {json.load(e)['value']['message']}") from None

    def open(self, path):
        self.call("POST", self.session + "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        """The value of a script that returns one."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script, *arguments):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never became true in {seconds} s: {script}")

    def messages(self):
        """What the page wrote to the console since the last call."""
        return [entry["message"] for entry in self.call("POST", self.session + "/se/log", {"type": "browser"})]

    def hover(self, x, y):
        self.actions([{"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "duration": 0, "x": int(x) + dx, "y": int(y)} for dx in (-2, 0)]}])

    def click(self, x, y):
        self.actions([{"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def wheel(self, x, y, delta):
        self.actions([{"type": "wheel", "id": "wheel", "actions": [{"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": delta, "duration": 0}]}])

    def actions(self, actions):
        self.call("POST", self.session + "/actions", {"actions": actions})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", self.session + "/screenshot")))
