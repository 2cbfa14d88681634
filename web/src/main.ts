document.body.textContent = "Supple";
